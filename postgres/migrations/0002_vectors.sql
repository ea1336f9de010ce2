-- Each collection has its vectors in a table of its own, vectors_<id>, since its index is made for one dimension.
create table vector_collections (
	id   bigint generated always as identity primary key,
	name text collate "C" not null unique,
	dims integer not null,
	half boolean not null -- the index has half the bits of each number
);
