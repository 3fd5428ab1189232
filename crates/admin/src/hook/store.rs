//! Webhooks in the database.

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{hooks, integrations},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    Result,
    ids::{HookId, NamespaceId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Health, Hook, HookFilter};
use crate::owner::Owner;

const NOUN: &str = "Hook";

pub trait HookStore {
    /// A page, oldest first.
    fn hooks_of(&mut self, home: Owner, page: PageRequest) -> Result<Page<Hook>>;
    fn find_hook(&mut self, home: Owner, id: HookId) -> Result<Option<Hook>>;
    fn hooks_with(&mut self, ids: &[HookId]) -> Result<Vec<Hook>>;
    /// Those of a project and of groups.
    fn hook_filters_around(
        &mut self,
        project: Option<ProjectId>,
        groups: &[NamespaceId],
    ) -> Result<Vec<HookFilter>>;
    fn system_hook_filters(&mut self) -> Result<Vec<HookFilter>>;
    /// Whether there is anybody at all who is told of anything; integrations that are switched off are nobody.
    fn has_receivers(&mut self) -> Result<bool>;
    fn insert_hook(&mut self, row: &Hook) -> Result<Hook>;
    /// Adds some at once, in their order.
    fn insert_hooks(&mut self, rows: &[Hook]) -> Result<()>;
    fn save_hook(&mut self, row: &Hook) -> Result<()>;
    /// Notes how a webhook fares, where that has not changed since `before`.
    fn keep_health(&mut self, id: HookId, before: Health, after: Health) -> Result<bool>;
    fn delete_hook(&mut self, id: HookId) -> Result<()>;
}

macro_rules! of_home {
    ($home:expr) => {{
        let (project, group) = $home.columns();
        let all = hooks::table.into_boxed();
        match (project, group) {
            (Some(project), _) => all.filter(hooks::project_id.eq(project)),
            (None, Some(group)) => all.filter(hooks::namespace_id.eq(group)),
            (None, None) => {
                all.filter(hooks::project_id.is_null()).filter(hooks::namespace_id.is_null())
            }
        }
    }};
}

/// The columns of a new webhook.
macro_rules! new_row {
    ($row:expr) => {
        (
            hooks::project_id.eq($row.project_id),
            hooks::namespace_id.eq($row.namespace_id),
            hooks::uuid.eq(&$row.uuid),
            hooks::name.eq(&$row.name),
            hooks::description.eq(&$row.description),
            hooks::flags.eq($row.flags),
            hooks::sealed.eq(&$row.sealed),
            hooks::enable_ssl_verification.eq($row.enable_ssl_verification),
            hooks::branch_filter_strategy.eq($row.branch_filter_strategy),
            hooks::push_events_branch_filter.eq(&$row.push_events_branch_filter),
            hooks::custom_webhook_template.eq(&$row.custom_webhook_template),
            hooks::failures.eq($row.failures),
            hooks::backoffs.eq($row.backoffs),
            hooks::disabled_until.eq($row.disabled_until),
            hooks::created_at.eq($row.created_at),
            hooks::updated_at.eq($row.updated_at),
        )
    };
}

impl HookStore for Tx<'_> {
    fn hooks_of(&mut self, home: Owner, page: PageRequest) -> Result<Page<Hook>> {
        each_backend!(self, |conn| {
            let items = of_home!(home)
                .order(hooks::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(Hook::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(of_home!(home).select(hooks::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn find_hook(&mut self, home: Owner, id: HookId) -> Result<Option<Hook>> {
        each_backend!(self, |conn| of_home!(home)
            .filter(hooks::id.eq(id))
            .select(Hook::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn hooks_with(&mut self, ids: &[HookId]) -> Result<Vec<Hook>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let all = hooks::table.filter(hooks::id.one_of(ids));
        each_backend!(self, |conn| all.select(Hook::as_select()).load(conn).map_err(error(NOUN)))
    }

    fn hook_filters_around(
        &mut self,
        project: Option<ProjectId>,
        groups: &[NamespaceId],
    ) -> Result<Vec<HookFilter>> {
        let of_project = hooks::table
            .filter(hooks::project_id.eq(project.unwrap_or(ProjectId(0))))
            .order(hooks::id);
        let mut found: Vec<HookFilter> = each_backend!(self, |conn| of_project
            .select(HookFilter::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        if !groups.is_empty() {
            let of_groups =
                hooks::table.filter(hooks::namespace_id.one_of(groups)).order(hooks::id);
            let more: Vec<HookFilter> = each_backend!(self, |conn| of_groups
                .select(HookFilter::as_select())
                .load(conn)
                .map_err(error(NOUN)))?;
            found.extend(more);
        }
        Ok(found)
    }

    fn system_hook_filters(&mut self) -> Result<Vec<HookFilter>> {
        each_backend!(self, |conn| of_home!(Owner::Instance)
            .order(hooks::id)
            .select(HookFilter::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn has_receivers(&mut self) -> Result<bool> {
        let any = (
            exists(hooks::table.select(hooks::id)),
            exists(integrations::table.filter(integrations::active).select(integrations::id)),
        );
        let (hooks, integrations): (bool, bool) =
            each_backend!(self, |conn| diesel::select(any).get_result(conn).map_err(error(NOUN)))?;
        Ok(hooks || integrations)
    }

    fn insert_hook(&mut self, row: &Hook) -> Result<Hook> {
        let insert = diesel::insert_into(hooks::table).values(new_row!(row));
        each_backend!(self, |conn| insert
            .returning(Hook::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn insert_hooks(&mut self, rows: &[Hook]) -> Result<()> {
        let values: Vec<_> = rows.iter().map(|row| new_row!(row)).collect();
        each_backend!(self, |conn| diesel::insert_into(hooks::table)
            .values(values)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(())
    }

    fn save_hook(&mut self, row: &Hook) -> Result<()> {
        let values = (
            hooks::name.eq(&row.name),
            hooks::description.eq(&row.description),
            hooks::flags.eq(row.flags),
            hooks::sealed.eq(&row.sealed),
            hooks::enable_ssl_verification.eq(row.enable_ssl_verification),
            hooks::branch_filter_strategy.eq(row.branch_filter_strategy),
            hooks::push_events_branch_filter.eq(&row.push_events_branch_filter),
            hooks::custom_webhook_template.eq(&row.custom_webhook_template),
            hooks::failures.eq(row.failures),
            hooks::backoffs.eq(row.backoffs),
            hooks::disabled_until.eq(row.disabled_until),
            hooks::updated_at.eq(row.updated_at),
        );
        let update = diesel::update(hooks::table.find(row.id)).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn keep_health(&mut self, id: HookId, before: Health, after: Health) -> Result<bool> {
        let seen = hooks::table
            .filter(hooks::id.eq(id))
            .filter(hooks::failures.eq(before.failures))
            .filter(hooks::backoffs.eq(before.backoffs));
        let values = (
            hooks::failures.eq(after.failures),
            hooks::backoffs.eq(after.backoffs),
            hooks::disabled_until.eq(after.disabled_until),
        );
        let update = diesel::update(seen).set(values);
        let changed = each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(changed == 1)
    }

    fn delete_hook(&mut self, id: HookId) -> Result<()> {
        let row = diesel::delete(hooks::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
