DROP TABLE board_visits;
DROP TABLE collapsed_board_lists;
DROP TABLE board_lists;
DROP TABLE board_labels;
DROP TABLE boards;
