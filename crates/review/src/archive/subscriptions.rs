//! Who hears of items and labels. A subscription is its person's: others than those who are known here have none.

use db::archive::{Column, Field, Relation};

use super::choices::{EPIC, ITEM_KINDS};

const PERSON: Column = Column::person("user_id");
const LABEL: Column = Column::row("label_id", "labels");
const ITEM: Column = Column::new("item_id", Field::Item("item_kind"));
const SUBSCRIBED: Column = Column::flag("subscribed");

pub(super) static ITEMS: Relation = Relation {
    name: "item_subscriptions",
    table: "item_subscriptions",
    scope: "((item_kind = 'Issue' AND item_id IN \
        (SELECT issues.id FROM issues WHERE issues.project_id = $1)) \
        OR (item_kind = 'MergeRequest' AND item_id IN \
        (SELECT merge_requests.id FROM merge_requests WHERE merge_requests.project_id = $1)))",
    key: &["item_kind", "item_id", "user_id"],
    columns: &[Column::new("item_kind", Field::Kind(ITEM_KINDS)), ITEM, PERSON, SUBSCRIBED],
    signed: None,
};

/// To labels of the project itself; those of groups are subscribed to there.
pub(super) static LABELS: Relation = Relation {
    name: "label_subscriptions",
    table: "label_subscriptions",
    scope: "label_id IN (SELECT labels.id FROM labels WHERE labels.project_id = $1)",
    key: &["user_id", "label_id"],
    columns: &[PERSON, LABEL],
    signed: None,
};

pub(super) static EPICS: Relation = Relation {
    name: "item_subscriptions",
    table: "item_subscriptions",
    scope: "item_kind = 'Epic' AND item_id IN \
        (SELECT epics.id FROM epics WHERE epics.namespace_id = $1)",
    key: &["item_kind", "item_id", "user_id"],
    columns: &[Column::new("item_kind", Field::Kind(EPIC)), ITEM, PERSON, SUBSCRIBED],
    signed: None,
};

pub(super) static GROUP_LABELS: Relation = Relation {
    name: "label_subscriptions",
    table: "label_subscriptions",
    scope: "label_id IN (SELECT labels.id FROM labels WHERE labels.namespace_id = $1)",
    key: &["user_id", "label_id"],
    columns: &[PERSON, LABEL],
    signed: None,
};
