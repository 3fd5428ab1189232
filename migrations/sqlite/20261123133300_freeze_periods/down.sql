DROP TABLE freeze_periods;
