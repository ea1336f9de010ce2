-- An inverted index with exact statistics.

create table word_collections (
	id          bigint generated always as identity primary key,
	name        text collate "C" not null unique,
	fingerprint text not null -- of the analyzer and the settings that decide what is stored
);

-- How many passages are stemmed in which way, and the sum of their lengths in words. Their sums are what BM25 needs.
create table word_totals (
	collection bigint not null references word_collections on delete cascade,
	stemming   text collate "C" not null,
	passages   bigint not null,
	length     bigint not null,
	primary key (collection, stemming)
);

create table word_passages (
	collection  bigint not null references word_collections on delete cascade,
	no          bigint generated always as identity,
	id          text collate "C" not null,
	length      integer not null,
	stemming    text collate "C" not null,
	terms       text[] not null, -- under which it has postings
	fields      jsonb not null,
	valid_from  numeric,
	valid_until numeric,
	primary key (no)
);
create unique index on word_passages (collection, id);
create index on word_passages using gin (fields jsonb_path_ops);

-- Which passages have a term, how often, and where. The key holds all that ranking reads.
create table word_postings (
	collection bigint not null,
	term       text collate "C" not null,
	passage    bigint not null,
	tf         integer not null,
	length     integer not null, -- of the passage
	places     integer[] not null,
	primary key (collection, term, passage) include (tf, length)
);

-- The words that terms were made of, where they differ: what a word with a star, or with a typing error, is looked up in.
create table word_forms (
	collection bigint not null references word_collections on delete cascade,
	form       text collate "C" not null,
	term       text collate "C" not null,
	primary key (collection, form, term)
);
