DROP INDEX alerts_environment;
ALTER TABLE alerts DROP COLUMN environment_id;
ALTER TABLE alert_integrations DROP COLUMN payload_example;
ALTER TABLE alert_settings DROP COLUMN issue_template_key;
DROP TABLE alert_metric_images;
DROP TABLE alert_notes;
