-- The system of record. What the engine gives and gets back lies in records, which keep every byte; the columns beside them
-- are what is looked up, counted and filtered by.

create table collections (
	id        bigint generated always as identity primary key,
	name      text collate "C" not null unique,
	header    bytea,
	documents bigint not null default 0,
	chunks    bigint not null default 0
);

create table documents (
	collection bigint not null references collections on delete cascade,
	uri        text collate "C" not null,
	title      text not null,
	chunks     integer not null,
	ingested   numeric,          -- seconds since 1970
	pictures   bytea[] not null, -- digests, each once
	entry      bytea not null,
	document   bytea not null,
	primary key (collection, uri)
);
create index on documents (collection, ingested);

create table chunks (
	collection  bigint not null references collections on delete cascade,
	id          text collate "C" not null,
	uri         text collate "C" not null,
	place       integer not null, -- among those of its document
	fields      jsonb,            -- what filters see; null if JSON cannot hold it
	valid_from  numeric,          -- seconds since 1970; null: open
	valid_until numeric,
	chunk       bytea not null,
	primary key (collection, id)
);
create unique index on chunks (collection, uri, place);

-- A picture lies here once, however many documents of however many collections show it.
create table pictures (
	digest bytea primary key,
	data   bytea not null
);
alter table pictures alter column data set storage external; -- pictures are compressed already
create table picture_uses (
	collection bigint not null references collections on delete cascade,
	digest     bytea not null references pictures,
	documents  bigint not null, -- of the collection that show it
	primary key (collection, digest)
);
create index on picture_uses (digest);

-- How often a collection's lock was taken: who took it before and writes still is refused.
create table writers (
	collection text collate "C" primary key,
	taken      bigint not null
);
