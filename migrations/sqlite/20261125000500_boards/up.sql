-- Boards show the issues, or the epics, of a project or group in lists.
CREATE TABLE boards (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    item_kind TEXT NOT NULL,
    project_id BIGINT REFERENCES projects (id) ON DELETE CASCADE,
    namespace_id BIGINT REFERENCES namespaces (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hide_backlog_list BOOLEAN NOT NULL,
    hide_closed_list BOOLEAN NOT NULL,
    display_colors BOOLEAN NOT NULL,
    milestone_id BIGINT REFERENCES milestones (id) ON DELETE SET NULL,
    iteration_id BIGINT REFERENCES iterations (id) ON DELETE SET NULL,
    iteration_cadence_id BIGINT REFERENCES iteration_cadences (id) ON DELETE SET NULL,
    assignee_id BIGINT REFERENCES users (id) ON DELETE SET NULL,
    weight BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX boards_project_id ON boards (project_id, item_kind);
CREATE INDEX boards_namespace_id ON boards (namespace_id, item_kind);
CREATE INDEX boards_milestone_id ON boards (milestone_id);
CREATE INDEX boards_iteration_id ON boards (iteration_id);
CREATE INDEX boards_iteration_cadence_id ON boards (iteration_cadence_id);
CREATE INDEX boards_assignee_id ON boards (assignee_id);

-- The labels that all issues of a board have.
CREATE TABLE board_labels (
    board_id BIGINT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    label_id BIGINT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (board_id, label_id)
);
CREATE INDEX board_labels_label_id ON board_labels (label_id);

CREATE TABLE board_lists (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    board_id BIGINT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    label_id BIGINT REFERENCES labels (id) ON DELETE CASCADE,
    user_id BIGINT REFERENCES users (id) ON DELETE CASCADE,
    milestone_id BIGINT REFERENCES milestones (id) ON DELETE CASCADE,
    iteration_id BIGINT REFERENCES iterations (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    max_issue_count BIGINT NOT NULL,
    max_issue_weight BIGINT NOT NULL,
    limit_metric TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (board_id, label_id),
    UNIQUE (board_id, user_id),
    UNIQUE (board_id, milestone_id),
    UNIQUE (board_id, iteration_id)
);
CREATE INDEX board_lists_label_id ON board_lists (label_id);
CREATE INDEX board_lists_user_id ON board_lists (user_id);
CREATE INDEX board_lists_milestone_id ON board_lists (milestone_id);
CREATE INDEX board_lists_iteration_id ON board_lists (iteration_id);

-- Lists that somebody does not want to see open.
CREATE TABLE collapsed_board_lists (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list_id BIGINT NOT NULL REFERENCES board_lists (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, list_id)
);
CREATE INDEX collapsed_board_lists_list_id ON collapsed_board_lists (list_id);

-- Who last worked with which board.
CREATE TABLE board_visits (
    user_id BIGINT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    board_id BIGINT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
    visited_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, board_id)
);
CREATE INDEX board_visits_board_id ON board_visits (board_id);
