//! Push rules in the database.

use db::{Tx, each_backend, error, schema::push_rules as rules};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId, PushRuleId},
};

use super::model::{Owner, PushRule, Terms};

const WHAT: &str = "Push Rule";

pub trait PushRuleStore {
    fn find_push_rule(&mut self, owner: Owner) -> Result<Option<PushRule>>;
    /// The rules that any of these groups have.
    fn push_rules_of_groups(&mut self, groups: &[NamespaceId]) -> Result<Vec<PushRule>>;
    /// The rules of these projects.
    fn push_rules_of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<PushRule>>;
    fn insert_push_rule(&mut self, owner: Owner, terms: &Terms) -> Result<PushRule>;
    /// As [`insert_push_rule`](Self::insert_push_rule), for one that is there since a moment.
    fn insert_push_rule_of(&mut self, owner: Owner, terms: &Terms, since: Ts) -> Result<PushRule>;
    fn save_push_rule(&mut self, id: PushRuleId, terms: &Terms) -> Result<PushRule>;
    fn delete_push_rule(&mut self, id: PushRuleId) -> Result<()>;
}

impl PushRuleStore for Tx<'_> {
    fn find_push_rule(&mut self, owner: Owner) -> Result<Option<PushRule>> {
        match owner {
            Owner::Project(id) => each_backend!(self, |conn| rules::table
                .filter(rules::project_id.eq(id))
                .select(PushRule::as_select())
                .get_result(conn)
                .optional()
                .map_err(error(WHAT))),
            Owner::Group(id) => each_backend!(self, |conn| rules::table
                .filter(rules::namespace_id.eq(id))
                .select(PushRule::as_select())
                .get_result(conn)
                .optional()
                .map_err(error(WHAT))),
            Owner::Installation => each_backend!(self, |conn| rules::table
                .filter(rules::project_id.is_null().and(rules::namespace_id.is_null()))
                .select(PushRule::as_select())
                .get_result(conn)
                .optional()
                .map_err(error(WHAT))),
        }
    }

    fn push_rules_of_groups(&mut self, groups: &[NamespaceId]) -> Result<Vec<PushRule>> {
        each_backend!(self, |conn| rules::table
            .filter(rules::namespace_id.eq_any(groups.iter().copied().map(Some)))
            .select(PushRule::as_select())
            .load(conn)
            .map_err(error(WHAT)))
    }

    fn push_rules_of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<PushRule>> {
        each_backend!(self, |conn| rules::table
            .filter(rules::project_id.eq_any(projects.iter().copied().map(Some)))
            .select(PushRule::as_select())
            .load(conn)
            .map_err(error(WHAT)))
    }

    fn insert_push_rule(&mut self, owner: Owner, terms: &Terms) -> Result<PushRule> {
        let now = self.now;
        self.insert_push_rule_of(owner, terms, now)
    }

    fn insert_push_rule_of(&mut self, owner: Owner, terms: &Terms, since: Ts) -> Result<PushRule> {
        let row = (
            rules::project_id.eq(owner.project()),
            rules::namespace_id.eq(owner.group()),
            rules::created_at.eq(since),
            rules::updated_at.eq(self.now),
            terms,
        );
        let insert = diesel::insert_into(rules::table).values(row);
        each_backend!(self, |conn| insert
            .returning(PushRule::as_returning())
            .get_result(conn)
            .map_err(error(WHAT)))
    }

    fn save_push_rule(&mut self, id: PushRuleId, terms: &Terms) -> Result<PushRule> {
        let row = diesel::update(rules::table.find(id));
        let update = row.set((rules::updated_at.eq(self.now), terms));
        each_backend!(self, |conn| update
            .returning(PushRule::as_returning())
            .get_result(conn)
            .map_err(error(WHAT)))
    }

    fn delete_push_rule(&mut self, id: PushRuleId) -> Result<()> {
        let row = diesel::delete(rules::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(WHAT)))?;
        Ok(())
    }
}
