-- Sources that workers share. A row is taken with `for update skip locked` and held by its number and a lease: who holds it
-- writes, and a commit of another is refused.

create sequence queue_claims;

create table queue (
	collection text collate "C" not null,
	uri        text collate "C" not null,
	no         bigint generated always as identity, -- the order in which they came
	source     bytea not null,
	state      text collate "C" not null,           -- pending, running, done, failed
	again      boolean not null default false,      -- running: it came once more since
	ready      timestamptz not null default now(),  -- pending: not before
	worker     text not null default '',            -- that took it last
	claim      bigint not null default 0,           -- number of that taking
	lease      timestamptz,                         -- running: until when
	tries      integer not null default 0,          -- that failed
	losses     integer not null default 0,          -- workers that were lost with it
	error      text not null default '',            -- of the last try
	-- What the indexes may hold otherwise than the catalog: documents with records that are newer, IDs of records, and IDs of
	-- records that a worker wrote who had lost the source to another.
	changing   text[] not null default '{}',
	touched    text[] not null default '{}',
	stale      text[] not null default '{}',
	primary key (collection, uri)
);
create index queue_next on queue (collection, losses, no) where state in ('pending', 'running');
create index queue_unclean on queue (collection) where touched <> '{}' or stale <> '{}';
