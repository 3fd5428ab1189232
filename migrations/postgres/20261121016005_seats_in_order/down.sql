DROP INDEX seats_since;
DROP INDEX seats_level_from_the_highest;
DROP INDEX seats_level;
