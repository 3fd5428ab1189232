//! Parameters that say whom a protection of an environment lets deploy and approve.

use deployments::protection::{AccessChange, Holder, NewAccess};
use kernel::{
    Error, Result,
    ids::{EnvironmentAccessId, NamespaceId, UserId},
};

use crate::{params, rest::shared::access_levels::UnprotectLevel};

params! {
    /// A role, a user or a group: exactly one of them.
    pub struct AccessParams {
        user_id: Option<UserId>,
        group_id: Option<NamespaceId>,
        access_level: Option<UnprotectLevel>,
        /// `1` to include inherited group members. Default: `0`, direct members only.
        group_inheritance_type: Option<i64>,
        /// Number of approvals required by an approval rule, from 1 to 5. Default: 1.
        required_approvals: Option<i64>,
    }
}

params! {
    /// A change to one record: without `id` a new one.
    pub struct AccessChangeParams {
        id: Option<EnvironmentAccessId>,
        user_id: Option<UserId>,
        group_id: Option<NamespaceId>,
        access_level: Option<UnprotectLevel>,
        group_inheritance_type: Option<i64>,
        required_approvals: Option<i64>,
        /// Removes the record.
        _destroy: bool = false,
    }
}

impl AccessParams {
    /// What is asked for; `under` is what the parameter is called.
    pub fn access(&self, under: &str) -> Result<NewAccess> {
        let holders = [
            self.user_id.map(Holder::User),
            self.group_id.map(Holder::Group),
            self.access_level.map(|level| Holder::Role(level.0)),
        ];
        let mut given = holders.into_iter().flatten();
        let (Some(holder), None) = (given.next(), given.next()) else {
            let names =
                ["user_id", "group_id", "access_level"].map(|name| format!("{under}[{name}]"));
            let text =
                format!("{} are missing, exactly one parameter must be provided", names.join(", "));
            return Err(Error::bad_request().parameters(text));
        };
        let inheritance = self.group_inheritance_type.unwrap_or_default();
        if !(0..=1).contains(&inheritance) {
            let text = format!("{under}[group_inheritance_type] does not have a valid value");
            return Err(Error::bad_request().parameters(text));
        }
        Ok(NewAccess {
            holder,
            with_inherited: inheritance == 1,
            required_approvals: self.required_approvals.unwrap_or(1),
        })
    }

    pub fn all(given: Option<Vec<Self>>, under: &str) -> Result<Vec<NewAccess>> {
        given.unwrap_or_default().iter().map(|one| one.access(under)).collect()
    }
}

impl AccessChangeParams {
    fn change(self, under: &str) -> Result<AccessChange> {
        if let (Some(id), true) = (self.id, self._destroy) {
            return Ok(AccessChange::Remove(id));
        }
        let access = AccessParams {
            user_id: self.user_id,
            group_id: self.group_id,
            access_level: self.access_level,
            group_inheritance_type: self.group_inheritance_type,
            required_approvals: self.required_approvals,
        };
        let access = access.access(under)?;
        Ok(match self.id {
            Some(id) => AccessChange::Set(id, access),
            None => AccessChange::Add(access),
        })
    }

    pub fn all(given: Option<Vec<Self>>, under: &str) -> Result<Vec<AccessChange>> {
        // Without an id there is nothing to remove.
        let changes = given.unwrap_or_default().into_iter();
        let changes = changes.filter(|one| one.id.is_some() || !one._destroy);
        changes.map(|one| one.change(under)).collect()
    }
}
