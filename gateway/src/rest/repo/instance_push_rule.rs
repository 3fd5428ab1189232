//! The push rule that projects begin with where no group says otherwise.

use kernel::access::Administrate;

use super::push_rule_calls::{create, delete, show, update};
use crate::routes;

routes! { "Push rule of the installation" at "/push_rule";
    GET    "" => show   : Administrate,
    POST   "" => create : Administrate,
    PUT    "" => update : Administrate,
    DELETE "" => delete : Administrate,
}
