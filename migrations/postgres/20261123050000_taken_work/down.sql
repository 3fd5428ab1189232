DROP INDEX work_taken;
