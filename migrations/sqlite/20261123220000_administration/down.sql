DROP TABLE appearances;
DROP TABLE feature_gates;
DROP TABLE broadcast_messages;
DROP TABLE audit_events;
