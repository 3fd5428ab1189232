DROP INDEX issues_weight_up;
DROP INDEX issues_due_date_up;
DROP INDEX issues_upvotes_up;
DROP INDEX issues_weight;
DROP INDEX issues_due_date;
DROP INDEX issues_upvotes;
DROP INDEX issues_title;
DROP INDEX issues_state_updated;
