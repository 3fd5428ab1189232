-- What lists of everything are ordered by.
CREATE INDEX issues_state_updated ON issues (state, updated_at, id, project_id, confidential, author_id);
CREATE INDEX issues_title ON issues (title);
CREATE INDEX issues_upvotes ON issues (upvotes);
CREATE INDEX issues_due_date ON issues (due_date DESC NULLS LAST);
CREATE INDEX issues_weight ON issues (weight DESC NULLS LAST);

-- Upwards; of equals, the newest comes first.
CREATE INDEX issues_upvotes_up ON issues (upvotes, id DESC);
CREATE INDEX issues_due_date_up ON issues (due_date, id DESC);
CREATE INDEX issues_weight_up ON issues (weight, id DESC);
