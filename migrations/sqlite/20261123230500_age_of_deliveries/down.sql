DROP INDEX hook_deliveries_age;
