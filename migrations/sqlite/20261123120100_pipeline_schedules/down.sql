DROP TABLE pipeline_schedule_variables;
DROP TABLE pipeline_schedules;
