//! The check that the database belongs to the data folder: the id of the folder is kept in the database and compared at
//! start, before anything is read or written.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use db::{Location, Tx, stamp};
use forge::server_key::FOLDER;
use kernel::Result;
use org::{project::actions, user::store::UserStore};

use crate::app::App;

/// Folders in which something lies that rows know of.
const CONTENTS: [&str; 4] = ["repositories", "lfs", "uploads", "avatars"];

/// Whether a database belongs to the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFolderMatch {
    /// The database has this folder's name.
    Sealed,
    /// The database has no name yet, and nothing speaks against this folder.
    Open,
    /// The database has another folder's name.
    Foreign,
    /// The database has nobody in it, and the folder is full.
    NoRows,
    /// The database has projects, and the folder holds nothing.
    NoFiles,
}

/// The facts from which a [`DataFolderMatch`] follows.
#[derive(Clone, Copy)]
struct Facts {
    kept: Option<i64>,
    own: i64,
    has_people: bool,
    has_projects: bool,
    has_files: bool,
}

impl Facts {
    fn data_folder_match(self) -> DataFolderMatch {
        match self.kept {
            Some(kept) if kept == self.own => DataFolderMatch::Sealed,
            Some(_) => DataFolderMatch::Foreign,
            None if self.has_files && !self.has_people => DataFolderMatch::NoRows,
            None if self.has_projects && !self.has_files => DataFolderMatch::NoFiles,
            None => DataFolderMatch::Open,
        }
    }
}

/// Refuses a SQLite file that would be made anew beside the contents of another one.
///
/// # Errors
/// What to do, in words.
pub fn ensure_file(location: &Location, data: &Path) -> anyhow::Result<()> {
    match location {
        Location::File(file) if !file.exists() && has_contents(data) => bail!(
            "{} is not there, and {} holds repositories or files of people: put the database back (from a backup, by \
             `forgeway restore`), or give --data another folder; nothing was changed",
            file.display(),
            data.display()
        ),
        _ => Ok(()),
    }
}

/// Refuses a database of another data folder. One that has no folder's name gets this one's.
///
/// # Errors
/// What to do, in words.
pub async fn ensure(app: &App) -> anyhow::Result<()> {
    // The rows of a secondary are copies, with the name of the primary's folder in them.
    if !app.node_identity.is_primary() {
        return Ok(());
    }
    let data = app.data().display().to_string();
    match data_folder_match(app).await? {
        DataFolderMatch::Sealed => Ok(()),
        DataFolderMatch::Open => {
            seal(app).await.context("the database cannot keep its folder's name")
        }
        DataFolderMatch::Foreign => bail!(
            "the database belongs to another data folder than {data}: check the settings `data` and `database_url`; \
             where the two do belong together (identity.key was lost), run `forgeway adopt`; nothing was changed"
        ),
        DataFolderMatch::NoRows => bail!(
            "the database is empty, and {data} holds repositories or files of people: check the settings `data` and \
             `database_url`, or put the database back from a backup; nothing was changed"
        ),
        DataFolderMatch::NoFiles => bail!(
            "the database has projects, and {data} holds no repository: check the settings `data` and `database_url`; \
             where all repositories were lost, run `forgeway adopt`; nothing was changed"
        ),
    }
}

/// Says that the two belong together, whatever was before. Only an empty database is no folder's.
///
/// # Errors
/// When the database is empty beside a full folder.
pub async fn adopt(app: &App) -> anyhow::Result<()> {
    if data_folder_match(app).await? == DataFolderMatch::NoRows {
        bail!("the database is empty: put it back from a backup, or give --data another folder");
    }
    Ok(seal(app).await?)
}

/// Compares the database with the data folder.
///
/// # Errors
/// When the database cannot be read.
pub async fn data_folder_match(app: &App) -> Result<DataFolderMatch> {
    let (own, has_files) = (app.key.number(), has_contents(app.data()));
    app.db.read(move |tx| Ok(facts(tx, own, has_files)?.data_folder_match())).await
}

fn facts(tx: &mut Tx<'_>, own: i64, has_files: bool) -> Result<Facts> {
    Ok(Facts {
        kept: stamp::of(tx, FOLDER)?,
        own,
        has_people: tx.has_users()?,
        has_projects: actions::has_any(tx)?,
        has_files,
    })
}

async fn seal(app: &App) -> Result<()> {
    let own = app.key.number();
    app.db.write(move |tx| stamp::keep(tx, FOLDER, own)).await
}

fn has_contents(data: &Path) -> bool {
    CONTENTS
        .iter()
        .any(|name| fs::read_dir(data.join(name)).is_ok_and(|mut inside| inside.next().is_some()))
}

#[cfg(test)]
mod tests {
    use db::Location;

    use super::{DataFolderMatch, Facts, ensure_file};

    const USED: Facts =
        Facts { kept: None, own: 7, has_people: true, has_projects: true, has_files: true };

    #[test]
    fn a_database_is_adopted_once() {
        assert_eq!(USED.data_folder_match(), DataFolderMatch::Open);
        assert_eq!(Facts { kept: Some(7), ..USED }.data_folder_match(), DataFolderMatch::Sealed);
        assert_eq!(Facts { kept: Some(8), ..USED }.data_folder_match(), DataFolderMatch::Foreign);
        let first = Facts { has_people: false, has_projects: false, has_files: false, ..USED };
        assert_eq!(first.data_folder_match(), DataFolderMatch::Open);
    }

    #[test]
    fn what_is_empty_is_not_put_beside_what_is_full() {
        let no_rows = Facts { has_people: false, has_projects: false, ..USED };
        assert_eq!(no_rows.data_folder_match(), DataFolderMatch::NoRows);
        assert_eq!(
            Facts { has_files: false, ..USED }.data_folder_match(),
            DataFolderMatch::NoFiles
        );
    }

    #[test]
    fn no_file_of_rows_is_made_beside_repositories() {
        let data = tempfile::tempdir().unwrap();
        let file = Location::File(data.path().join("forgeway.sqlite3"));
        assert!(ensure_file(&file, data.path()).is_ok());
        std::fs::create_dir_all(data.path().join("repositories/6b")).unwrap();
        assert!(ensure_file(&file, data.path()).is_err());
        std::fs::write(data.path().join("forgeway.sqlite3"), "").unwrap();
        assert!(ensure_file(&file, data.path()).is_ok());
    }
}
