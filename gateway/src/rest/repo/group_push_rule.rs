//! A group's push rule: what its new projects begin with.

use repo::policy::{AdminGroupPushRule, ReadGroupPushRule};

use super::push_rule_calls::{create, delete, show, update};
use crate::routes;

routes! { "Push rules of groups" at "/groups/{id}/push_rule";
    GET    "" => show   : ReadGroupPushRule,
    POST   "" => create : AdminGroupPushRule,
    PUT    "" => update : AdminGroupPushRule,
    DELETE "" => delete : AdminGroupPushRule,
}
