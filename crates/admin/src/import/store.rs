//! Imports in the database.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{import_failures as failures, imported_objects, imported_users, imports},
};
use diesel::prelude::*;
use kernel::{
    Error, Result, TextEnum as _,
    ids::{ProjectId, UserId},
};
use secrets::Vault;
use serde::{Deserialize, Serialize};

use super::{Import, ImportFailure, ImportStats, NewImport, Relation, Stage};

const NOUN: &str = "Import";
/// Values of one statement.
const AT_ONCE: usize = 400;
/// Failures that are shown.
const MOST_FAILURES: i64 = 100;
/// Bytes of a message that are kept.
const LONGEST_MESSAGE: usize = 1000;

/// The cursor of an import after a step.
#[derive(Clone, Debug)]
pub struct ImportProgress {
    pub stage: Stage,
    pub cursor: Option<String>,
    pub stats: ImportStats,
}

/// Something that could not be brought along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFailure {
    pub relation: Relation,
    pub source_name: String,
    pub message: String,
}

/// A row of a project that its archive does not hold, since no import would take it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedRow {
    /// The list in which archives hold such rows.
    pub relation: String,
    /// In the project that the archive is of; nothing where the row has none.
    #[serde(default)]
    pub id: Option<i64>,
    pub reason: String,
}

pub trait ImportStore {
    fn find_import(&mut self, project: ProjectId) -> Result<Option<Import>>;
    /// The imports of these projects, by project.
    fn imports_of(&mut self, projects: &[ProjectId]) -> Result<HashMap<ProjectId, Import>>;
    /// Writes down what is to be imported into a project; what was written of an earlier import goes.
    fn insert_import(&mut self, project: ProjectId, new: &NewImport, vault: &Vault) -> Result<()>;
    /// The projects whose imports have not ended.
    fn unfinished_imports(&mut self) -> Result<Vec<ProjectId>>;
    /// Notes where an import is. False where another step was faster: then nothing is to be written.
    fn save_progress(&mut self, seen: &Import, progress: &ImportProgress) -> Result<bool>;
    /// Counts one more failure of the source. False where another step was faster.
    fn save_attempt(&mut self, seen: &Import) -> Result<bool>;
    /// Notes why an import ended, and drops its credentials.
    fn end_import(&mut self, project: ProjectId, error: Option<&str>) -> Result<()>;
    /// Those of these objects that were written already.
    fn known_objects(
        &mut self,
        project: ProjectId,
        kind: Relation,
        ids: &[String],
    ) -> Result<HashSet<String>>;
    fn insert_objects(&mut self, project: ProjectId, kind: Relation, ids: &[String]) -> Result<()>;
    /// Who those at the source are here, as far as that was asked before.
    fn imported_users(
        &mut self,
        project: ProjectId,
        logins: &[String],
    ) -> Result<HashMap<String, Option<UserId>>>;
    fn save_imported_users(
        &mut self,
        project: ProjectId,
        users: &HashMap<String, Option<UserId>>,
    ) -> Result<()>;
    fn insert_failures(&mut self, project: ProjectId, rows: &[NewFailure]) -> Result<()>;
    /// Notes what an archive that becomes a project does not hold, as failures.
    fn insert_left_out(&mut self, project: ProjectId, rows: &[OmittedRow]) -> Result<()>;
    /// The newest failures, at most 100.
    fn import_failures(&mut self, project: ProjectId) -> Result<Vec<ImportFailure>>;
}

impl ImportStore for Tx<'_> {
    fn find_import(&mut self, project: ProjectId) -> Result<Option<Import>> {
        each_backend!(self, |conn| imports::table
            .find(project)
            .select(Import::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn imports_of(&mut self, projects: &[ProjectId]) -> Result<HashMap<ProjectId, Import>> {
        let rows: Vec<Import> = each_backend!(self, |conn| imports::table
            .filter(imports::project_id.one_of(projects))
            .select(Import::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        Ok(rows.into_iter().map(|row| (row.project_id, row)).collect())
    }

    fn insert_import(&mut self, project: ProjectId, new: &NewImport, vault: &Vault) -> Result<()> {
        macro_rules! forget { ($($table:ident),*) => { $(
            let old = $table::table.filter($table::project_id.eq(project));
            each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error(NOUN)))?;
        )* } }
        forget!(imports, failures, imported_objects, imported_users);
        let sealed = match &new.credentials {
            Some(credentials) => Some(credentials.seal(vault, project)?),
            None => None,
        };
        let row = (
            imports::project_id.eq(project),
            imports::kind.eq(new.kind),
            imports::user_id.eq(new.user),
            imports::source.eq(&new.source),
            imports::origin.eq(serde_json::to_string(&new.origin).map_err(Error::internal)?),
            imports::sealed.eq(sealed),
            imports::correlation_id.eq(crate::uuid::new().replace('-', "")),
            imports::stage.eq(Stage::Repository),
            imports::steps.eq(0_i64),
            imports::attempts.eq(0),
            imports::stats.eq(stats_text(&ImportStats::default())?),
            imports::created_at.eq(self.now),
            imports::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(imports::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn unfinished_imports(&mut self) -> Result<Vec<ProjectId>> {
        let all = imports::table.filter(imports::stage.ne(Stage::Done)).order(imports::project_id);
        each_backend!(self, |conn| all.select(imports::project_id).load(conn).map_err(error(NOUN)))
    }

    fn save_progress(&mut self, seen: &Import, progress: &ImportProgress) -> Result<bool> {
        let row = imports::table
            .filter(imports::project_id.eq(seen.project_id).and(imports::steps.eq(seen.steps)));
        let set = (
            imports::stage.eq(progress.stage),
            imports::cursor.eq(&progress.cursor),
            imports::steps.eq(seen.steps + 1),
            imports::attempts.eq(0),
            imports::stats.eq(stats_text(&progress.stats)?),
            imports::updated_at.eq(self.now),
        );
        let count = each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(count == 1)
    }

    fn save_attempt(&mut self, seen: &Import) -> Result<bool> {
        let row = imports::table
            .filter(imports::project_id.eq(seen.project_id).and(imports::steps.eq(seen.steps)));
        let set = (imports::attempts.eq(imports::attempts + 1), imports::updated_at.eq(self.now));
        let count = each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(count == 1)
    }

    fn end_import(&mut self, project: ProjectId, text: Option<&str>) -> Result<()> {
        let set = (
            imports::sealed.eq(None::<String>),
            imports::stage.eq(Stage::Done),
            imports::error.eq(text.map(shortened)),
            imports::steps.eq(imports::steps + 1),
            imports::updated_at.eq(self.now),
        );
        let row = diesel::update(imports::table.find(project)).set(set);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn known_objects(
        &mut self,
        project: ProjectId,
        kind: Relation,
        ids: &[String],
    ) -> Result<HashSet<String>> {
        let mut known = HashSet::new();
        for some in ids.chunks(AT_ONCE) {
            let found = imported_objects::table
                .filter(imported_objects::project_id.eq(project))
                .filter(imported_objects::kind.eq(kind.as_str()))
                .filter(imported_objects::source_id.eq_any(some))
                .select(imported_objects::source_id);
            let found: Vec<String> =
                each_backend!(self, |conn| found.load(conn).map_err(error(NOUN)))?;
            known.extend(found);
        }
        Ok(known)
    }

    fn insert_objects(&mut self, project: ProjectId, kind: Relation, ids: &[String]) -> Result<()> {
        for some in ids.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|id| {
                    (
                        imported_objects::project_id.eq(project),
                        imported_objects::kind.eq(kind.as_str()),
                        imported_objects::source_id.eq(id),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(imported_objects::table)
                .values(&rows)
                .execute(conn)
                .map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn imported_users(
        &mut self,
        project: ProjectId,
        logins: &[String],
    ) -> Result<HashMap<String, Option<UserId>>> {
        let mut known = HashMap::new();
        for some in logins.chunks(AT_ONCE) {
            let found = imported_users::table
                .filter(imported_users::project_id.eq(project))
                .filter(imported_users::login.eq_any(some))
                .select((imported_users::login, imported_users::user_id));
            let found: Vec<(String, Option<UserId>)> =
                each_backend!(self, |conn| found.load(conn).map_err(error(NOUN)))?;
            known.extend(found);
        }
        Ok(known)
    }

    fn save_imported_users(
        &mut self,
        project: ProjectId,
        users: &HashMap<String, Option<UserId>>,
    ) -> Result<()> {
        let all: Vec<_> = users.iter().collect();
        for some in all.chunks(AT_ONCE) {
            let logins: Vec<&String> = some.iter().map(|(login, _)| *login).collect();
            // Another step may have asked about somebody meanwhile.
            let old = imported_users::table
                .filter(imported_users::project_id.eq(project))
                .filter(imported_users::login.eq_any(logins));
            each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error(NOUN)))?;
            let rows: Vec<_> = some
                .iter()
                .map(|(login, user)| {
                    (
                        imported_users::project_id.eq(project),
                        imported_users::login.eq(*login),
                        imported_users::user_id.eq(**user),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(imported_users::table)
                .values(&rows)
                .execute(conn)
                .map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn insert_failures(&mut self, project: ProjectId, rows: &[NewFailure]) -> Result<()> {
        let texts = rows.iter().map(|one| FailureText {
            relation: one.relation.as_str(),
            source_name: Cow::Borrowed(&one.source_name),
            message: &one.message,
        });
        insert_texts(self, project, &texts.collect::<Vec<_>>())
    }

    fn insert_left_out(&mut self, project: ProjectId, rows: &[OmittedRow]) -> Result<()> {
        let texts = rows.iter().map(|one| FailureText {
            relation: &one.relation,
            source_name: one.id.map(|id| id.to_string()).unwrap_or_default().into(),
            message: &one.reason,
        });
        insert_texts(self, project, &texts.collect::<Vec<_>>())
    }

    fn import_failures(&mut self, project: ProjectId) -> Result<Vec<ImportFailure>> {
        let newest = failures::table
            .filter(failures::project_id.eq(project))
            .order(failures::id.desc())
            .limit(MOST_FAILURES);
        each_backend!(self, |conn| newest
            .select(ImportFailure::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }
}

/// A failure as it is stored.
struct FailureText<'a> {
    relation: &'a str,
    source_name: Cow<'a, str>,
    message: &'a str,
}

fn insert_texts(tx: &mut Tx<'_>, project: ProjectId, all: &[FailureText<'_>]) -> Result<()> {
    let now = tx.now;
    for some in all.chunks(AT_ONCE / 4) {
        let rows: Vec<_> = some
            .iter()
            .map(|one| {
                (
                    failures::project_id.eq(project),
                    failures::relation.eq(one.relation),
                    failures::source_name.eq(one.source_name.as_ref()),
                    failures::message.eq(shortened(one.message)),
                    failures::created_at.eq(now),
                )
            })
            .collect();
        each_backend!(tx, |conn| diesel::insert_into(failures::table)
            .values(&rows)
            .execute(conn)
            .map_err(error(NOUN)))?;
    }
    Ok(())
}

fn stats_text(stats: &ImportStats) -> Result<String> {
    serde_json::to_string(stats).map_err(Error::internal)
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_MESSAGE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use db::testing::{rows, transaction};
    use secrets::Vault;

    use super::{ImportProgress, ImportStats, ImportStore as _, NewFailure, Relation, Stage};
    use crate::import::{Credentials, ImportKind, NewImport, Origin};

    fn vault() -> Arc<Vault> {
        let folder = std::env::temp_dir().join(format!("vault-{}", crate::uuid::new()));
        std::fs::create_dir_all(&folder).unwrap();
        let vault = Arc::new(Vault::find_or_make(&folder).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        vault
    }

    fn new(user: kernel::ids::UserId) -> NewImport {
        let credentials = Credentials { username: "mia".to_owned(), password: "t0p".to_owned() };
        NewImport {
            kind: ImportKind::RemoteHost,
            user,
            source: "mia/tea".to_owned(),
            origin: Origin::default(),
            credentials: Some(credentials),
        }
    }

    #[test]
    fn a_step_that_another_one_overtook_writes_nothing() {
        let vault = vault();
        transaction(move |tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tools/tea")?;
            tx.insert_import(project, &new(user), &vault)?;
            let seen = tx.find_import(project)?.unwrap();
            let mut stats = ImportStats::default();
            stats.count(Relation::Issue, 2, 1);
            let progress =
                ImportProgress { stage: Stage::Issues, cursor: Some("2".to_owned()), stats };

            assert!(tx.save_progress(&seen, &progress)?);
            assert!(!tx.save_progress(&seen, &progress)?, "it was seen before the first one");

            let now = tx.find_import(project)?.unwrap();
            assert_eq!((now.stage, now.cursor.as_deref()), (Stage::Issues, Some("2")));
            assert_eq!(now.stats()?, progress.stats);
            Ok(())
        });
    }

    #[test]
    fn credentials_are_sealed_and_go_with_the_end() {
        let vault = vault();
        transaction(move |tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tools/tea")?;
            tx.insert_import(project, &new(user), &vault)?;
            let import = tx.find_import(project)?.unwrap();
            assert_eq!(import.credentials(&vault)?.unwrap().password, "t0p");
            assert_eq!(crate::sealed::is_key_of(tx, &vault, 3)?, Some(true));
            assert_eq!(tx.unfinished_imports()?, [project]);

            tx.end_import(project, Some("away"))?;

            let import = tx.find_import(project)?.unwrap();
            assert!(import.credentials(&vault)?.is_none());
            assert_eq!(import.error.as_deref(), Some("away"));
            assert!(tx.unfinished_imports()?.is_empty());
            assert!(!crate::sealed::has_any(tx)?);
            Ok(())
        });
    }

    #[test]
    fn what_was_written_is_known_and_failures_are_listed() {
        let vault = vault();
        transaction(move |tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tools/tea")?;
            tx.insert_import(project, &new(user), &vault)?;
            let ids = ["1".to_owned(), "2".to_owned()];
            tx.insert_objects(project, Relation::Note, &ids[..1])?;
            let known = tx.known_objects(project, Relation::Note, &ids)?;
            assert!(known.contains("1") && known.len() == 1);
            assert!(tx.known_objects(project, Relation::DiffNote, &ids)?.is_empty());
            let people = [("mia".to_owned(), Some(user)), ("bo".to_owned(), None)].into();
            tx.save_imported_users(project, &people)?;
            tx.save_imported_users(project, &people)?;
            let logins = ["mia".to_owned(), "bo".to_owned(), "eve".to_owned()];
            assert_eq!(tx.imported_users(project, &logins)?, people);
            let failure = NewFailure {
                relation: Relation::Issue,
                source_name: "7".to_owned(),
                message: "ü".repeat(600),
            };
            tx.insert_failures(project, &[failure])?;
            assert_eq!(tx.import_failures(project)?[0].message.len(), 1000);
            Ok(())
        });
    }
}
