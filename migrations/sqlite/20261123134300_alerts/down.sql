DROP TABLE alerts;
DROP TABLE alert_numbers;
DROP TABLE alert_settings;
DROP TABLE alert_integrations;
