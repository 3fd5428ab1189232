-- Work that is being done waits under its key no more; it is found by its kind.
CREATE INDEX work_taken ON work (kind) WHERE unique_key IS NULL;
