DROP TABLE daily_invites;
