DROP TABLE seat_lists;
DROP TABLE seats;
