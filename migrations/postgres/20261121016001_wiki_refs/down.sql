DROP TABLE wiki_refs;
