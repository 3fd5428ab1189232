DROP INDEX notes_people;
