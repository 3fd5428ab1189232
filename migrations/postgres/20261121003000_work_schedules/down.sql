DROP TABLE work_schedules;
