//! Protections in the database.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{protected_environment_access as access, protected_environments as protected},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{EnvironmentAccessId, NamespaceId, ProjectId, ProtectedEnvironmentId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    AccessRule, Holder, NewAccess, ProtectedEnvironment, Protection, ProtectionHome, RuleKind,
};

const NOUN: &str = "Protected Environment";

pub trait ProtectionStore {
    fn protections(&mut self, home: ProtectionHome, page: PageRequest) -> Result<Page<Protection>>;
    fn find_protection(&mut self, home: ProtectionHome, name: &str) -> Result<Option<Protection>>;
    /// What holds for an environment of a project: its own protection, and those of the groups above for its tier.
    fn protections_for(
        &mut self,
        project: ProjectId,
        name: &str,
        groups: &[NamespaceId],
        tier: &str,
    ) -> Result<Vec<Protection>>;
    /// All that may hold for environments of a project with these names: their own protections, and those of the groups.
    fn protections_among(
        &mut self,
        project: ProjectId,
        names: &[&str],
        groups: &[NamespaceId],
    ) -> Result<Vec<Protection>>;
    fn insert_protection(
        &mut self,
        home: ProtectionHome,
        name: &str,
        required_approval_count: i64,
    ) -> Result<ProtectedEnvironment>;
    fn set_required_approvals(&mut self, id: ProtectedEnvironmentId, count: i64) -> Result<()>;
    fn delete_protection(&mut self, id: ProtectedEnvironmentId) -> Result<()>;
    fn insert_access(
        &mut self,
        id: ProtectedEnvironmentId,
        kind: RuleKind,
        new: NewAccess,
    ) -> Result<()>;
    fn set_access(&mut self, id: EnvironmentAccessId, new: NewAccess) -> Result<()>;
    fn delete_access(&mut self, id: EnvironmentAccessId) -> Result<()>;
}

/// With their records, which are read at once.
fn whole(tx: &mut Tx<'_>, found: Vec<ProtectedEnvironment>) -> Result<Vec<Protection>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ProtectedEnvironmentId> = found.iter().map(|one| one.id).collect();
    let rules: Vec<AccessRule> = each_backend!(tx, |conn| access::table
        .filter(access::protected_environment_id.one_of(&ids))
        .order(access::id)
        .select(AccessRule::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let mut by_owner: HashMap<ProtectedEnvironmentId, Vec<AccessRule>> = HashMap::new();
    for rule in rules {
        by_owner.entry(rule.protected_environment_id).or_default().push(rule);
    }
    let with_rules = |environment: ProtectedEnvironment| {
        let rules = by_owner.remove(&environment.id).unwrap_or_default();
        Protection { environment, rules }
    };
    Ok(found.into_iter().map(with_rules).collect())
}

type Columns = (Option<kernel::AccessLevel>, Option<kernel::ids::UserId>, Option<NamespaceId>);

fn columns(holder: Holder) -> Columns {
    match holder {
        Holder::Role(level) => (Some(level), None, None),
        Holder::User(user) => (None, Some(user), None),
        Holder::Group(group) => (None, None, Some(group)),
    }
}

fn homes(home: ProtectionHome) -> (Option<ProjectId>, Option<NamespaceId>) {
    match home {
        ProtectionHome::Project(project) => (Some(project), None),
        ProtectionHome::Group(group) => (None, Some(group)),
    }
}

impl ProtectionStore for Tx<'_> {
    fn protections(&mut self, home: ProtectionHome, page: PageRequest) -> Result<Page<Protection>> {
        let (items, total): (Vec<ProtectedEnvironment>, i64) = each_backend!(self, |conn| {
            let chosen = || {
                let all = protected::table.into_boxed();
                match home {
                    ProtectionHome::Project(id) => all.filter(protected::project_id.eq(id)),
                    ProtectionHome::Group(id) => all.filter(protected::group_id.eq(id)),
                }
            };
            let items = chosen()
                .order(protected::name)
                .limit(page.per_page)
                .offset(page.offset())
                .select(ProtectedEnvironment::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(protected::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            (items, total)
        });
        Ok(Page { items: whole(self, items)?, total: Total::Counted(total) })
    }

    fn find_protection(&mut self, home: ProtectionHome, name: &str) -> Result<Option<Protection>> {
        let found: Vec<ProtectedEnvironment> = each_backend!(self, |conn| {
            let all = protected::table.filter(protected::name.eq(name)).into_boxed();
            let chosen = match home {
                ProtectionHome::Project(id) => all.filter(protected::project_id.eq(id)),
                ProtectionHome::Group(id) => all.filter(protected::group_id.eq(id)),
            };
            chosen.select(ProtectedEnvironment::as_select()).load(conn).map_err(error(NOUN))?
        });
        Ok(whole(self, found)?.pop())
    }

    fn protections_for(
        &mut self,
        project: ProjectId,
        name: &str,
        groups: &[NamespaceId],
        tier: &str,
    ) -> Result<Vec<Protection>> {
        let own = protected::project_id.eq(project).and(protected::name.eq(name));
        let mut found: Vec<ProtectedEnvironment> = each_backend!(self, |conn| protected::table
            .filter(own)
            .select(ProtectedEnvironment::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        if !groups.is_empty() {
            let above = protected::group_id.one_of(groups).and(protected::name.eq(tier));
            let theirs: Vec<ProtectedEnvironment> = each_backend!(self, |conn| protected::table
                .filter(above)
                .order(protected::id)
                .select(ProtectedEnvironment::as_select())
                .load(conn)
                .map_err(error(NOUN)))?;
            found.extend(theirs);
        }
        whole(self, found)
    }

    fn protections_among(
        &mut self,
        project: ProjectId,
        names: &[&str],
        groups: &[NamespaceId],
    ) -> Result<Vec<Protection>> {
        let own = protected::project_id.eq(project).and(protected::name.one_of(names));
        let above = protected::group_id.one_of(groups);
        let (mut found, theirs): (Vec<ProtectedEnvironment>, Vec<ProtectedEnvironment>) =
            each_backend!(self, |conn| {
                let all = || protected::table.select(ProtectedEnvironment::as_select());
                let own = all().filter(own).order(protected::id).load(conn).map_err(error(NOUN))?;
                let above = all().filter(above).order(protected::id).load(conn);
                (own, above.map_err(error(NOUN))?)
            });
        found.extend(theirs);
        whole(self, found)
    }

    fn insert_protection(
        &mut self,
        home: ProtectionHome,
        name: &str,
        required_approval_count: i64,
    ) -> Result<ProtectedEnvironment> {
        let (project, group) = homes(home);
        let row = (
            protected::project_id.eq(project),
            protected::group_id.eq(group),
            protected::name.eq(name),
            protected::required_approval_count.eq(required_approval_count),
            protected::created_at.eq(self.now),
            protected::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(protected::table).values(row);
        each_backend!(self, |conn| insert
            .returning(ProtectedEnvironment::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn set_required_approvals(&mut self, id: ProtectedEnvironmentId, count: i64) -> Result<()> {
        let values =
            (protected::required_approval_count.eq(count), protected::updated_at.eq(self.now));
        let row = diesel::update(protected::table.find(id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_protection(&mut self, id: ProtectedEnvironmentId) -> Result<()> {
        let row = diesel::delete(protected::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn insert_access(
        &mut self,
        id: ProtectedEnvironmentId,
        kind: RuleKind,
        new: NewAccess,
    ) -> Result<()> {
        let (level, user, group) = columns(new.holder);
        let row = (
            access::protected_environment_id.eq(id),
            access::kind.eq(kind),
            access::access_level.eq(level),
            access::user_id.eq(user),
            access::group_id.eq(group),
            access::with_inherited.eq(new.with_inherited),
            access::required_approvals.eq(new.required_approvals),
        );
        let insert = diesel::insert_into(access::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn set_access(&mut self, id: EnvironmentAccessId, new: NewAccess) -> Result<()> {
        let (level, user, group) = columns(new.holder);
        let values = (
            access::access_level.eq(level),
            access::user_id.eq(user),
            access::group_id.eq(group),
            access::with_inherited.eq(new.with_inherited),
            access::required_approvals.eq(new.required_approvals),
        );
        let row = diesel::update(access::table.find(id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_access(&mut self, id: EnvironmentAccessId) -> Result<()> {
        let row = diesel::delete(access::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
