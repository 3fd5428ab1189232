DROP TABLE milestones;
DROP TABLE label_subscriptions;
DROP TABLE label_priorities;
DROP TABLE labels;
DROP TABLE sequences;
