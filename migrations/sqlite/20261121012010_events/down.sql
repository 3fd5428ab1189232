DROP TABLE resource_events;
DROP TABLE events;
