DROP TABLE hook_logs;
DROP TABLE hook_deliveries;
DROP TABLE hook_events;
DROP TABLE hooks;
DROP TABLE integrations;
