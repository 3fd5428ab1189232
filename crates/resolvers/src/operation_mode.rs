//! The operation mode of list mutations: replace, append or remove.

use db::Tx;
use graphql::Arguments;
use kernel::{Result, ids::UserId};
use org::user::names::ids_of;

/// The list of people that a mutation names in one of its arguments, and what is to be done with it.
#[derive(Clone, Debug)]
pub struct PeopleChange {
    names: Vec<String>,
    mode: String,
}

impl PeopleChange {
    /// From the argument of this name, and from `operationMode`, which is `REPLACE` where it is left out.
    pub fn read(input: &Arguments, argument: &str) -> Self {
        let mode = input.maybe_enum("operationMode").unwrap_or_else(|| "REPLACE".to_owned());
        Self { names: input.texts(argument), mode }
    }

    /// The list after the change. Names of nobody are left out.
    ///
    /// # Errors
    /// When the database failed.
    pub fn apply(&self, tx: &mut Tx<'_>, old: Vec<UserId>) -> Result<Vec<UserId>> {
        let found = ids_of(tx, &self.names)?;
        let named: Vec<UserId> =
            self.names.iter().filter_map(|name| found.get(name).copied()).collect();
        Ok(match self.mode.as_str() {
            "APPEND" => {
                let mut all = old;
                let new = named.into_iter().filter(|user| !all.contains(user));
                let new: Vec<UserId> = new.collect();
                all.extend(new);
                all
            }
            "REMOVE" => old.into_iter().filter(|user| !named.contains(user)).collect(),
            _ => named,
        })
    }
}
