-- The state in which a migrated database is handed to a test, and the function that brings it back.
CREATE SCHEMA pristine;

CREATE FUNCTION pristine.shape() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(
        ' ',
        (SELECT concat_ws(' ', count(*), sum(relnatts), count(*) FILTER (WHERE reltuples >= 0))
           FROM pg_class WHERE relnamespace = 'public'::regnamespace),
        (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal)
    )
$$;

-- Rows that migrations have made.
DO $$
DECLARE
    name text;
    filled boolean;
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', name) INTO filled;
        IF filled THEN
            EXECUTE format('CREATE TABLE pristine.%I AS TABLE public.%I', name, name);
        END IF;
    END LOOP;
END $$;

CREATE TABLE pristine."sequence state" AS
    SELECT owner.relname AS name, seqrelid AS id, pg_sequence_last_value(seqrelid) AS last, seqstart AS first
    FROM pg_sequence
    JOIN pg_depend ON classid = 'pg_class'::regclass AND objid = seqrelid AND deptype IN ('a', 'i')
    JOIN pg_class owner ON owner.oid = refobjid AND refclassid = 'pg_class'::regclass;

CREATE TABLE pristine."shape" AS SELECT pristine.shape() AS shape;

-- Empties what was written to, fills in what was there from the start, and counts from the first number again. It deletes instead of
-- truncating, so that connections keep what they know of a table, and asks for the sizes of files, so that it learns nothing of
-- tables that no test has written to.
CREATE FUNCTION pristine.reset() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    written record;
    used record;
BEGIN
    IF pristine.shape() IS DISTINCT FROM (SELECT shape FROM pristine."shape") THEN
        RAISE EXCEPTION 'the test has changed more than rows';
    END IF;
    SET LOCAL session_replication_role = replica;
    FOR written IN
        SELECT own.relname AS name, kept.oid IS NOT NULL AS seeded
        FROM pg_class own
        JOIN pg_database ON datname = current_database()
        LEFT JOIN pg_class kept ON kept.relname = own.relname AND kept.relnamespace = 'pristine'::regnamespace
        WHERE own.relkind = 'r' AND own.relnamespace = 'public'::regnamespace
          AND (pg_stat_file(format('base/%s/%s', pg_database.oid, own.relfilenode))).size > 0
    LOOP
        EXECUTE format('DELETE FROM public.%I', written.name);
        IF written.seeded THEN
            EXECUTE format(
                'INSERT INTO public.%I OVERRIDING SYSTEM VALUE TABLE pristine.%I', written.name, written.name
            );
        END IF;
        FOR used IN SELECT id, last, first FROM pristine."sequence state" WHERE name = written.name LOOP
            PERFORM setval(used.id::regclass, coalesce(used.last, used.first), used.last IS NOT NULL);
        END LOOP;
    END LOOP;
END $$;
