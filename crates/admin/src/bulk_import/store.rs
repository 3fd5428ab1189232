//! Bulk imports in the database.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        bulk_import_entities as entities, bulk_import_failures as failures, bulk_imports as imports,
    },
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{BulkImportEntityId, BulkImportId, NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest, Total},
};
use secrets::Vault;
use worker::Queue as _;

use super::{
    BulkImport, BulkImportEntity, BulkImportFailure, BulkStatus, BulkStep, FetchEntity,
    NewBulkImport, NewEntity,
};

const NOUN: &str = "Bulk import";
/// Failures of an entity that are shown.
const MOST_FAILURES: usize = 100;
const LONGEST_MESSAGE: usize = 1000;

/// Columns of an entity to change beside its status; `None` keeps a value.
#[derive(Clone, Copy, Debug, Default, AsChangeset)]
#[diesel(table_name = entities)]
pub struct EntityColumns {
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub is_requested: Option<bool>,
    pub attempts: Option<i32>,
}

pub trait BulkImportStore {
    fn insert_bulk_import(&mut self, new: &NewBulkImport, vault: &Vault) -> Result<BulkImport>;
    fn insert_entity(
        &mut self,
        import: BulkImportId,
        parent: Option<BulkImportEntityId>,
        new: &NewEntity,
    ) -> Result<()>;
    fn find_bulk_import(&mut self, id: BulkImportId) -> Result<Option<BulkImport>>;
    /// Somebody's bulk imports, the newest first or last.
    fn bulk_imports(
        &mut self,
        of: UserId,
        status: Option<BulkStatus>,
        newest_first: bool,
        page: PageRequest,
    ) -> Result<Page<BulkImport>>;
    /// Entities of somebody's bulk imports, or of one of these.
    fn bulk_import_entities(
        &mut self,
        of: UserId,
        import: Option<BulkImportId>,
        status: Option<BulkStatus>,
        page: PageRequest,
    ) -> Result<Page<BulkImportEntity>>;
    fn find_entity(&mut self, id: BulkImportEntityId) -> Result<Option<BulkImportEntity>>;
    /// The newest failures of each of these entities, at most 100; none for those without.
    fn failures_of_entities(
        &mut self,
        of: &[BulkImportEntityId],
    ) -> Result<HashMap<BulkImportEntityId, Vec<BulkImportFailure>>>;
    /// Those of these bulk imports about which something failed.
    fn failed_bulk_imports(&mut self, of: &[BulkImportId]) -> Result<HashSet<BulkImportId>>;
    /// The newest failures, at most 100.
    fn entity_failures(&mut self, of: BulkImportEntityId) -> Result<Vec<BulkImportFailure>>;
    fn insert_entity_failure(
        &mut self,
        of: BulkImportEntityId,
        relation: &str,
        message: &str,
    ) -> Result<()>;
    fn save_entity(&mut self, id: BulkImportEntityId, columns: EntityColumns) -> Result<()>;
    /// Moves an entity by the table of states, and its bulk import with it; false where that is not possible.
    fn advance_entity(&mut self, id: BulkImportEntityId, step: BulkStep) -> Result<bool>;
    /// Cancels all that has not ended; false where the bulk import has.
    fn cancel_bulk_import(&mut self, id: BulkImportId) -> Result<bool>;
    /// Entities that have not ended.
    fn unfinished_entities(&mut self) -> Result<Vec<BulkImportEntityId>>;
}

macro_rules! page_of {
    ($tx:expr, $query:expr, $row:ty, $page:expr) => {{
        let page: PageRequest = $page;
        let rows: Vec<$row> = each_backend!($tx, |conn| $query
            .select(<$row>::as_select())
            .limit(page.per_page)
            .offset(page.offset())
            .load(conn)
            .map_err(error(NOUN)))?;
        rows
    }};
}

impl BulkImportStore for Tx<'_> {
    fn insert_bulk_import(&mut self, new: &NewBulkImport, vault: &Vault) -> Result<BulkImport> {
        let row = (
            imports::user_id.eq(new.user),
            imports::status.eq(BulkStatus::Created),
            imports::url.eq(&new.source.url),
            imports::sealed.eq(Some(new.source.seal(vault)?)),
            imports::created_at.eq(self.now),
            imports::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(imports::table).values(row);
        let made: BulkImport = each_backend!(self, |conn| insert
            .returning(BulkImport::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))?;
        for entity in &new.entities {
            self.insert_entity(made.id, None, entity)?;
        }
        Ok(made)
    }

    fn insert_entity(
        &mut self,
        import: BulkImportId,
        parent: Option<BulkImportEntityId>,
        new: &NewEntity,
    ) -> Result<()> {
        let row = (
            entities::bulk_import_id.eq(import),
            entities::parent_id.eq(parent),
            entities::entity_type.eq(new.kind),
            entities::status.eq(BulkStatus::Created),
            entities::source_full_path.eq(&new.source_full_path),
            entities::destination_slug.eq(&new.destination_slug),
            entities::destination_namespace.eq(&new.destination_namespace),
            entities::migrate_projects.eq(new.migrate_projects),
            entities::is_requested.eq(false),
            entities::attempts.eq(0),
            entities::created_at.eq(self.now),
            entities::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(entities::table).values(row).returning(entities::id);
        let entity: BulkImportEntityId =
            each_backend!(self, |conn| insert.get_result(conn).map_err(error(NOUN)))?;
        self.enqueue(&FetchEntity { entity })
    }

    fn find_bulk_import(&mut self, id: BulkImportId) -> Result<Option<BulkImport>> {
        each_backend!(self, |conn| imports::table
            .find(id)
            .select(BulkImport::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn bulk_imports(
        &mut self,
        of: UserId,
        status: Option<BulkStatus>,
        newest_first: bool,
        page: PageRequest,
    ) -> Result<Page<BulkImport>> {
        let all = || {
            let own = imports::table.filter(imports::user_id.eq(of));
            let states =
                status.map_or(<BulkStatus as kernel::TextEnum>::ALL.to_vec(), |one| vec![one]);
            own.filter(imports::status.eq_any(states))
        };
        let total: i64 =
            each_backend!(self, |conn| all().count().get_result(conn).map_err(error(NOUN)))?;
        let items = match newest_first {
            true => page_of!(self, all().order(imports::id.desc()), BulkImport, page),
            false => page_of!(self, all().order(imports::id.asc()), BulkImport, page),
        };
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn bulk_import_entities(
        &mut self,
        of: UserId,
        import: Option<BulkImportId>,
        status: Option<BulkStatus>,
        page: PageRequest,
    ) -> Result<Page<BulkImportEntity>> {
        let all = || {
            let own = imports::table.filter(imports::user_id.eq(of)).select(imports::id);
            let states =
                status.map_or(<BulkStatus as kernel::TextEnum>::ALL.to_vec(), |one| vec![one]);
            let some = entities::table
                .filter(entities::bulk_import_id.eq_any(own))
                .filter(entities::status.eq_any(states));
            let (any, one) = (import.is_none(), import.unwrap_or(BulkImportId(0)));
            some.filter(
                entities::bulk_import_id.eq(one).or(any.into_sql::<diesel::sql_types::Bool>()),
            )
        };
        let total: i64 =
            each_backend!(self, |conn| all().count().get_result(conn).map_err(error(NOUN)))?;
        let items = page_of!(self, all().order(entities::id.asc()), BulkImportEntity, page);
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn find_entity(&mut self, id: BulkImportEntityId) -> Result<Option<BulkImportEntity>> {
        each_backend!(self, |conn| entities::table
            .find(id)
            .select(BulkImportEntity::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn failures_of_entities(
        &mut self,
        of: &[BulkImportEntityId],
    ) -> Result<HashMap<BulkImportEntityId, Vec<BulkImportFailure>>> {
        let newest =
            failures::table.filter(failures::entity_id.one_of(of)).order(failures::id.desc());
        let newest: Vec<BulkImportFailure> = each_backend!(self, |conn| newest
            .select(BulkImportFailure::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let mut by_entity: HashMap<_, Vec<_>> = HashMap::new();
        for failure in newest {
            let all = by_entity.entry(failure.entity_id).or_default();
            if all.len() < MOST_FAILURES {
                all.push(failure);
            }
        }
        Ok(by_entity)
    }

    fn failed_bulk_imports(&mut self, of: &[BulkImportId]) -> Result<HashSet<BulkImportId>> {
        let failed = failures::table.select(failures::entity_id);
        let found = entities::table
            .filter(entities::bulk_import_id.one_of(of))
            .filter(entities::id.eq_any(failed))
            .select(entities::bulk_import_id)
            .distinct();
        let found: Vec<BulkImportId> =
            each_backend!(self, |conn| found.load(conn).map_err(error(NOUN)))?;
        Ok(found.into_iter().collect())
    }

    fn entity_failures(&mut self, of: BulkImportEntityId) -> Result<Vec<BulkImportFailure>> {
        Ok(self.failures_of_entities(&[of])?.remove(&of).unwrap_or_default())
    }

    fn insert_entity_failure(
        &mut self,
        of: BulkImportEntityId,
        relation: &str,
        message: &str,
    ) -> Result<()> {
        let message: String = message.chars().take(LONGEST_MESSAGE).collect();
        let row = (
            failures::entity_id.eq(of),
            failures::relation.eq(relation),
            failures::message.eq(message),
            failures::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(failures::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn save_entity(&mut self, id: BulkImportEntityId, columns: EntityColumns) -> Result<()> {
        let set = (columns, entities::updated_at.eq(self.now));
        let row = diesel::update(entities::table.find(id)).set(set);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn advance_entity(&mut self, id: BulkImportEntityId, step: BulkStep) -> Result<bool> {
        let Some(seen) = self.find_entity(id)? else { return Ok(false) };
        let Some(to) = seen.status.after(step) else { return Ok(false) };
        let row = entities::table.filter(entities::id.eq(id).and(entities::status.eq(seen.status)));
        let set = (entities::status.eq(to), entities::updated_at.eq(self.now));
        let count = each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        follow(self, seen.bulk_import_id)?;
        Ok(count == 1)
    }

    fn cancel_bulk_import(&mut self, id: BulkImportId) -> Result<bool> {
        let Some(seen) = self.find_bulk_import(id)? else { return Ok(false) };
        if seen.status.after(BulkStep::Cancel).is_none() {
            return Ok(false);
        }
        let active = [BulkStatus::Created, BulkStatus::Started];
        let open = entities::table
            .filter(entities::bulk_import_id.eq(id).and(entities::status.eq_any(active)));
        let set = (entities::status.eq(BulkStatus::Canceled), entities::updated_at.eq(self.now));
        each_backend!(self, |conn| diesel::update(open)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        save_status(self, id, BulkStatus::Canceled)?;
        Ok(true)
    }

    fn unfinished_entities(&mut self) -> Result<Vec<BulkImportEntityId>> {
        let active = [BulkStatus::Created, BulkStatus::Started];
        let found = entities::table.filter(entities::status.eq_any(active)).select(entities::id);
        each_backend!(self, |conn| found.load(conn).map_err(error(NOUN)))
    }
}

/// A bulk import goes on while one of its entities does, and has failed where all of them have.
fn follow(tx: &mut Tx<'_>, id: BulkImportId) -> Result<()> {
    // Of two entities that end at the same moment the second one waits here, and sees that the first has ended.
    let lock = diesel::update(imports::table.find(id)).set(imports::updated_at.eq(tx.now));
    each_backend!(tx, |conn| lock.execute(conn).map_err(error(NOUN)))?;
    let Some(seen) = tx.find_bulk_import(id)?.filter(|seen| seen.status.is_active()) else {
        return Ok(());
    };
    let states = entities::table.filter(entities::bulk_import_id.eq(id)).select(entities::status);
    let states: Vec<BulkStatus> =
        each_backend!(tx, |conn| states.distinct().load(conn).map_err(error(NOUN)))?;
    let step = match states.as_slice() {
        states if states.iter().any(|one| one.is_active()) => BulkStep::Start,
        [BulkStatus::Failed] => BulkStep::Fail,
        _ => BulkStep::Finish,
    };
    let started = seen.status.after(BulkStep::Start).unwrap_or(seen.status);
    match started.after(step) {
        Some(to) => save_status(tx, id, to),
        None => Ok(()),
    }
}

/// What has ended needs no token any more.
fn save_status(tx: &mut Tx<'_>, id: BulkImportId, to: BulkStatus) -> Result<()> {
    let now = tx.now;
    let row = imports::table.find(id);
    let set = (imports::status.eq(to), imports::updated_at.eq(now));
    each_backend!(tx, |conn| diesel::update(row).set(set).execute(conn).map_err(error(NOUN)))?;
    if !to.is_active() {
        let set = imports::sealed.eq(None::<String>);
        each_backend!(tx, |conn| diesel::update(row).set(set).execute(conn).map_err(error(NOUN)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use db::testing::{rows, transaction};
    use kernel::page::PageRequest;
    use secrets::Vault;

    use super::{BulkImportStore as _, BulkStatus, BulkStep};
    use crate::bulk_import::{EntityKind, NewBulkImport, NewEntity, SourceAccess};

    #[test]
    fn a_bulk_import_ends_with_its_last_entity_and_forgets_its_token() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Arc::new(Vault::find_or_make(folder.path()).unwrap());
        transaction(move |tx| {
            let user = rows::user(tx, "ada")?;
            let entity = |path: &str| NewEntity {
                kind: EntityKind::Group,
                source_full_path: path.to_owned(),
                destination_slug: path.to_owned(),
                destination_namespace: String::new(),
                migrate_projects: true,
            };
            let source = SourceAccess { url: "https://a.test".to_owned(), token: "t0p".to_owned() };
            let entities = vec![entity("tea"), entity("pot")];
            let made = tx.insert_bulk_import(&NewBulkImport { user, source, entities }, &vault)?;
            assert_eq!(made.source(&vault)?.unwrap().token, "t0p");
            let all = tx.unfinished_entities()?;

            for (id, step) in [(all[0], BulkStep::Finish), (all[1], BulkStep::Fail)] {
                assert!(tx.advance_entity(id, BulkStep::Start)?);
                assert!(tx.advance_entity(id, step)?);
            }

            let ended = tx.find_bulk_import(made.id)?.unwrap();
            assert_eq!(ended.status, BulkStatus::Finished);
            assert!(ended.source(&vault)?.is_none() && !tx.cancel_bulk_import(made.id)?);
            let page = PageRequest::default();
            let failed = Some(BulkStatus::Failed);
            assert_eq!(tx.bulk_import_entities(user, None, failed, page)?.items[0].id, all[1]);
            Ok(())
        });
    }
}
