//! Rows of tables on their way into an archive and out of one.

use std::{
    collections::{BTreeSet, HashMap},
    fs::File,
    io::BufWriter,
    sync::Arc,
};

use admin::archive::{ArchiveIdStore as _, ArchiveImport};
use db::{
    Tx,
    archive::{self, ArchiveRow, Cell, Names, Relation, RowPages},
};
use kernel::{
    Error, Result,
    error::Kind,
    ids::{NamespaceId, ProjectId, UserId},
    task::spawn_blocking,
};
use org::user::store::UserStore as _;
use serde_json::Value;

use super::{
    citations::Citations, corrections::Corrections, deputies, failure::ArchiveError,
    files::ArchiveUpload, lines, people, pipelines, twins,
};
use crate::Forge;

/// Rows of one page, and of one transaction; where they are long, there are fewer.
pub(super) const PAGE: usize = 200;

/// The project or group whose rows go into an archive.
#[derive(Clone, Debug)]
pub(super) struct Source {
    home: i64,
    /// All groups of the archive.
    groups: Arc<[NamespaceId]>,
}

impl Source {
    pub(super) fn project(id: ProjectId) -> Self {
        Self { home: id.0, groups: Arc::default() }
    }

    pub(super) fn group(id: NamespaceId, groups: &Arc<[NamespaceId]>) -> Self {
        Self { home: id.0, groups: Arc::clone(groups) }
    }
}

/// Writes the rows of a relation into a file, one in each line, and notes what they name. How many these were.
pub(super) async fn write(
    forge: &Forge,
    relation: &'static Relation,
    source: &Source,
    into: File,
    named: &mut Citations,
) -> Result<(File, usize)> {
    let mut pages = RowPages::new(relation, source.home);
    let (mut file, mut count) = (BufWriter::new(into), 0);
    loop {
        let (mut next, groups) = (pages, Arc::clone(&source.groups));
        let read = move |tx: &mut Tx<'_>| {
            let mut rows = next.read(tx, PAGE)?;
            let is_end = rows.is_empty();
            review::archive::retain_inner_notes(tx, relation, &mut rows, &groups)?;
            Ok((rows, next, is_end))
        };
        let (rows, rest, is_end) = forge.db.read(read).await?;
        if is_end {
            for row in rest.left_out() {
                named.leave_out(relation, row.id, row.flaw.to_string());
            }
            return Ok((lines::finish(file)?, count));
        }
        pages = rest;
        count += rows.len();
        rows.iter().for_each(|row| named.note(relation, row));
        let written = spawn_blocking(move || {
            let mut too_long = Vec::new();
            for row in &rows {
                if !lines::write(&mut file, row)? {
                    too_long.push(row.get("id").and_then(Value::as_i64));
                }
            }
            Ok::<_, Error>((file, too_long))
        });
        let (written, too_long) = written.await.map_err(Error::internal)??;
        file = written;
        for id in too_long {
            named.leave_out(relation, id, format!("{}: the row is too long", relation.name));
        }
    }
}

/// The context in which rows of an archive are read.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) import: ArchiveImport,
    /// The project or group that gets the rows.
    pub(super) home: i64,
    /// Ids of that in the archive.
    pub(super) source_home: i64,
    /// People who had an account here when the import looked for them; see [`present_people`].
    pub(super) people: Arc<HashMap<i64, i64>>,
    /// These people, and the accounts of the installation.
    pub(super) authors: Arc<HashMap<i64, i64>>,
    /// Names of all people in the archive.
    pub(super) names: Arc<HashMap<i64, String>>,
    /// The archive's files by their secrets.
    pub(super) uploads: Arc<HashMap<String, ArchiveUpload>>,
}

/// Writes rows of an archive, and notes what their ids are here.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    context: &Context,
    relation: &'static Relation,
    rows: &[ArchiveRow],
) -> Result<(), ArchiveError> {
    let relation = review::archive::target_of(relation);
    let [people, authors] = present_people(tx, context, relation, rows)?;
    let mut names = names(tx, context, relation, rows, &people)?;
    let corrections = Corrections::read(tx, relation, &names)?;
    let (mut all, mut ids): (Vec<Vec<Cell>>, Vec<i64>) = (Vec::new(), Vec::new());
    let needless = deputies::needless(tx, relation, &names, rows)?;
    let needed = rows.iter().enumerate().filter(|(place, _)| !needless.contains(place));
    for (_, row) in needed {
        names.people = Arc::clone(match people::may_be_internal(relation, row) {
            true => &authors,
            false => &people,
        });
        let mut row = sign(context, relation, &names, row);
        if !corrections.apply(context, relation, &names, &mut row) {
            continue;
        }
        let cells = archive::cells(relation, &row, &names).map_err(|flaw| row_flaw(&flaw))?;
        let Some(cells) = cells else { continue };
        all.push(cells);
        ids.extend(row.get("id").and_then(Value::as_i64));
    }
    let mut pairs = twins::take_away(tx, relation, context.home, &mut all, &mut ids)?;
    let made = archive::insert(tx, relation, &all)?;
    pipelines::complete(tx, context, relation, &all, &made)?;
    pairs.extend(ids.into_iter().zip(made));
    tx.insert_archive_ids(context.import.id, relation.table, &pairs)
        .map_err(|cause| collision(relation, cause))?;
    Ok(())
}

fn collision(relation: &Relation, cause: Error) -> Error {
    match cause.kind {
        Kind::Conflict => {
            Error::conflict().whole(format!("a row of {} has the id of another one", relation.name))
        }
        _ => cause,
    }
}

pub(super) fn row_flaw(flaw: &archive::Flaw) -> ArchiveError {
    ArchiveError::Flawed(format!("The archive has a row that cannot be taken: {flaw}."))
}

/// The people whom some rows name, and these with the accounts of the installation, who are there until this transaction
/// ends. Whoever was removed since the import looked for them is somebody without an account.
fn present_people(
    tx: &mut Tx<'_>,
    context: &Context,
    relation: &Relation,
    rows: &[ArchiveRow],
) -> Result<[Arc<HashMap<i64, i64>>; 2]> {
    let mut named = BTreeSet::new();
    rows.iter().for_each(|row| people::note(relation, row, &mut named));
    let known = named.iter().filter_map(|id| context.authors.get(id).copied().map(UserId));
    let present = tx.hold_users(&known.collect::<Vec<_>>())?;
    let there = |all: &HashMap<i64, i64>| {
        let pairs = named.iter().filter_map(|id| Some((*id, *all.get(id)?)));
        Arc::new(pairs.filter(|(_, here)| present.contains(&UserId(*here))).collect())
    };
    Ok([there(&context.people), there(&context.authors)])
}

fn names(
    tx: &mut Tx<'_>,
    context: &Context,
    relation: &'static Relation,
    rows: &[ArchiveRow],
    people: &Arc<HashMap<i64, i64>>,
) -> Result<Names, ArchiveError> {
    let mut named = Vec::new();
    for row in rows {
        archive::first_pass(relation, row, &mut named).map_err(|flaw| row_flaw(&flaw))?;
    }
    let mut wanted: HashMap<&'static str, BTreeSet<i64>> = HashMap::new();
    for (of, id) in named {
        wanted.entry(of).or_default().insert(id);
    }
    let mut names = Names {
        home: context.home,
        importer: context.import.user_id.0,
        people: Arc::clone(people),
        rows: HashMap::new(),
    };
    names.rows.insert(("projects", context.source_home), context.home);
    for (of, ids) in wanted {
        let ids: Vec<i64> = ids.into_iter().collect();
        let found = tx.archive_ids(context.import.id, of, &ids)?;
        names.rows.extend(found.into_iter().map(|(source, target)| ((of, source), target)));
    }
    Ok(names)
}

/// A row whose text says who wrote it, where the author has no account, and names its files as they are called here.
fn sign(context: &Context, relation: &Relation, names: &Names, row: &ArchiveRow) -> ArchiveRow {
    let mut row = row.clone();
    let Some(column) = relation.signed else { return row };
    let author = row.get("author_id").and_then(Value::as_i64);
    let unknown = author.filter(|id| !names.people.contains_key(id));
    let stranger = unknown.and_then(|id| context.names.get(&id));
    let text = row.get(column).and_then(Value::as_str);
    let mut new = text.map(|text| rename_uploads(context, text));
    if let Some(name) = stranger {
        let at = row.get("created_at").and_then(Value::as_str).unwrap_or_default();
        let date = at.get(..10).unwrap_or_default();
        new = Some(format!("*By {name} on {date}*\n\n{}", new.unwrap_or_default()));
    }
    if let Some(new) = new {
        row.insert(column.to_owned(), Value::String(new));
    }
    row
}

fn rename_uploads(context: &Context, text: &str) -> String {
    const FOLDER: &str = "/uploads/";
    const LENGTH: usize = 32;
    let (mut new, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(FOLDER) {
        let (before, after) = rest.split_at(at + FOLDER.len());
        new.push_str(before);
        rest = after;
        let secret = rest.get(..LENGTH).filter(|secret| context.uploads.contains_key(*secret));
        if let Some(secret) = secret {
            new.push_str(&context.import.upload_secret(secret));
            rest = rest.get(LENGTH..).unwrap_or_default();
        }
    }
    new.push_str(rest);
    new
}
