//! Folders.

use std::{collections::HashMap, sync::Arc};

use forge::urls::Urls;
use graphql::{Arguments, Connection, Cursor, Failure, Fields, Registry, Value};
use repo::{
    commit::read::deadline,
    git::{EntryInfo, EntryKind, GitError, Oid, Reader, TreePage, TreePath},
    lfs::Pointer,
};

use super::{RepositoryRecord, commit, commit_named, qualified, shown_name};
use crate::{context::Context, failure::visible, projects::ProjectRecord, values::path_of};

/// A folder, or a part of what lies in it.
struct TreeRecord {
    project: Arc<ProjectRecord>,
    /// The revision as addresses have it.
    name: String,
    commit: Oid,
    path: TreePath,
    contents: Arc<TreeContents>,
}

/// The entries of a folder.
struct TreeContents {
    entries: Vec<EntryInfo>,
    /// Objects of large file storage, by the ids of the blobs that point to them.
    large_files: HashMap<Oid, String>,
    /// Addresses of submodules, by their paths.
    submodules: HashMap<String, String>,
}

/// An entry of a folder.
struct EntryRecord {
    project: Arc<ProjectRecord>,
    name: String,
    entry: EntryInfo,
    large_file: Option<String>,
    /// Address of a submodule's repository, where a browser can open it.
    module: Option<String>,
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<TreeRecord>("Tree")
        .lookup("blobs", |record, arguments, _| async move {
            Ok(record.connection(&arguments, EntryKind::Blob)?.into())
        })
        .lookup(
            "lastCommit",
            |record, _, context| async move { last_commit(&context, &record).await },
        )
        .cost("lastCommit", 10)
        .lookup("submodules", |record, arguments, _| async move {
            Ok(record.connection(&arguments, EntryKind::Commit)?.into())
        })
        .lookup("trees", |record, arguments, _| async move {
            Ok(record.connection(&arguments, EntryKind::Tree)?.into())
        });
    let blob = add_fields(registry.object("Blob"))
        .plain("lfsOid", |record| record.large_file.clone().into())
        .plain("mode", |record| record.entry.mode.as_str().into());
    add_addresses(blob, "blob");
    let folder = add_fields(registry.object("TreeEntry"));
    add_addresses(folder, "tree");
    add_fields(registry.object("Submodule"))
        .plain("treeUrl", |record| {
            let tree = |address: &String| format!("{address}/-/tree/{}", record.entry.id);
            record.module.as_ref().map(tree).into()
        })
        .plain("webUrl", |record| record.module.clone().into());
}

type EntryFields<'r> = Fields<'r, Context, EntryRecord>;

fn add_fields(fields: EntryFields<'_>) -> EntryFields<'_> {
    fields
        .plain("flatPath", |record| record.entry.path.to_text().into_owned().into())
        .plain("id", |record| {
            Value::gid("Gitlab::Graphql::Representation::TreeEntry", record.entry.id)
        })
        .plain("name", |record| record.entry.path.name().to_string().into())
        .plain("path", |record| record.entry.path.to_text().into_owned().into())
        .plain("sha", |record| record.entry.id.to_string().into())
        .plain("type", |record| record.entry.kind().as_str().into())
}

/// The addresses of an entry's page, whose path has this word.
fn add_addresses(fields: EntryFields<'_>, word: &'static str) {
    let address = move |record: &EntryRecord| {
        let (base, name) = (record.project.web_url(), &record.name);
        format!("{base}/-/{word}/{name}/{}", record.entry.path.to_text())
    };
    let _fields = fields
        .lookup("webPath", move |record: Arc<EntryRecord>, _, context| async move {
            Ok(path_of(&context.forge.urls, &address(&record)).into())
        })
        .lookup("webUrl", move |record: Arc<EntryRecord>, _, _| async move {
            Ok(address(&record).into())
        });
}

impl TreeRecord {
    fn connection(&self, arguments: &Arguments, kind: EntryKind) -> Result<Connection, Failure> {
        let type_name = match kind {
            EntryKind::Blob => "Blob",
            EntryKind::Tree => "TreeEntry",
            EntryKind::Commit => "Submodule",
        };
        let entries = self.contents.entries.iter().filter(|entry| entry.kind() == kind);
        let entries = entries.map(|entry| {
            let record = EntryRecord {
                project: self.project.clone(),
                name: self.name.clone(),
                large_file: self.contents.large_files.get(&entry.id).cloned(),
                module: self.contents.submodules.get(&*entry.path.to_text()).cloned(),
                entry: entry.clone(),
            };
            Value::object(type_name, Arc::new(record))
        });
        Ok(Connection::of_list(&arguments.page()?, entries.collect()))
    }
}

/// The parts of a folder that a query selects.
struct TreeQuery {
    revision: Option<String>,
    path: TreePath,
    deep: bool,
    with_large_files: bool,
    with_submodules: bool,
    skip: usize,
    /// Everything where there is no number.
    take: Option<usize>,
}

impl TreeQuery {
    /// Nothing for a path that no folder can have. `below` is where in the selection the fields of a tree are.
    fn of(arguments: &Arguments, below: &str) -> Option<Self> {
        let path = arguments.maybe_text("path").unwrap_or_default();
        let selects = |field: &str| arguments.selects(&format!("{below}{field}"));
        Some(Self {
            revision: qualified(arguments),
            path: TreePath::lookup(path.as_bytes()).ok()?,
            deep: arguments.flag("recursive"),
            with_large_files: selects("blobs.nodes.lfsOid"),
            with_submodules: selects("submodules"),
            skip: 0,
            take: None,
        })
    }

    /// Nothing where there is no such commit. A folder that is not there is empty.
    fn read(
        &self,
        reader: &Reader,
        project: &ProjectRecord,
        urls: &Urls,
    ) -> kernel::Result<Option<(Oid, TreeContents)>> {
        let Some(commit) = commit_named(reader, project, self.revision.as_deref())? else {
            return Ok(None);
        };
        let page = TreePage { skip: self.skip, take: self.take };
        let entries = match reader.list(commit, &self.path, self.deep, page) {
            Ok(entries) => entries,
            Err(GitError::NotFound) => Vec::new(),
            Err(failure) => return Err(failure.into()),
        };
        let large_files = match self.with_large_files {
            true => large_files(reader, &entries)?,
            false => HashMap::new(),
        };
        let has_submodules = entries.iter().any(|entry| entry.kind() == EntryKind::Commit);
        let submodules = match self.with_submodules && has_submodules {
            true => submodules(reader, commit, project, urls)?,
            false => HashMap::new(),
        };
        Ok(Some((commit, TreeContents { entries, large_files, submodules })))
    }
}

/// No pointer to a large file is longer.
const LONGEST_POINTER: u64 = 1024;

fn large_files(reader: &Reader, entries: &[EntryInfo]) -> kernel::Result<HashMap<Oid, String>> {
    let mut found = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.kind() == EntryKind::Blob) {
        if reader.blob_info(entry.id)?.size > LONGEST_POINTER {
            continue;
        }
        if let Some(pointer) = Pointer::parse(&reader.blob(entry.id, LONGEST_POINTER)?) {
            found.insert(entry.id, pointer.id.to_string());
        }
    }
    Ok(found)
}

/// A larger list of submodules is passed over.
const LARGEST_MODULES: u64 = 1 << 20;

/// The addresses of submodules that a browser can open, by their paths.
fn submodules(
    reader: &Reader,
    commit: Oid,
    project: &ProjectRecord,
    urls: &Urls,
) -> kernel::Result<HashMap<String, String>> {
    let path = TreePath::lookup(".gitmodules")?;
    let Some(file) = reader.find_entry(commit, &path)? else { return Ok(HashMap::new()) };
    if file.kind() != EntryKind::Blob || reader.blob_info(file.id)?.size > LARGEST_MODULES {
        return Ok(HashMap::new());
    }
    let content = reader.blob(file.id, LARGEST_MODULES)?;
    let modules = modules(&String::from_utf8_lossy(&content));
    let opened = modules.into_iter().filter_map(|(path, address)| {
        Some((path, web_address(&address, &project.facts.full_path, urls)?))
    });
    Ok(opened.collect())
}

/// The paths and addresses that a `.gitmodules` file tells.
fn modules(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for section in text.split("[submodule").skip(1) {
        let value = |name: &str| {
            section.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == name).then(|| value.trim().trim_matches('"').to_owned())
            })
        };
        found.extend(value("path").zip(value("url")));
    }
    found
}

/// The page of a repository that is cloned from an address; nothing where that has no web page.
fn web_address(address: &str, project: &str, urls: &Urls) -> Option<String> {
    let address = address.strip_suffix(".git").unwrap_or(address).trim_end_matches('/');
    if address.starts_with("./") || address.starts_with("../") {
        let mut path: Vec<&str> = project.split('/').collect();
        for part in address.split('/') {
            match part {
                "." | "" => {}
                ".." => drop(path.pop()?),
                name => path.push(name),
            }
        }
        return Some(urls.at(&path.join("/")));
    }
    if address.starts_with("https://") || address.starts_with("http://") {
        return Some(address.to_owned());
    }
    let rest = address.strip_prefix("ssh://").unwrap_or(address);
    let (_, rest) = rest.split_once('@')?;
    let (host, path) = rest.split_once([':', '/'])?;
    Some(format!("https://{host}/{}", path.trim_start_matches('/')))
}

/// A folder with everything in it.
pub(super) async fn one(
    context: &Context,
    record: &RepositoryRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(query) = TreeQuery::of(arguments, "") else { return Ok(Value::Null) };
    let name = shown_name(&record.project, arguments);
    Ok(read(context, record, name, query)
        .await?
        .map_or(Value::Null, |tree| Value::object("Tree", Arc::new(tree))))
}

async fn read(
    context: &Context,
    record: &RepositoryRecord,
    name: String,
    query: TreeQuery,
) -> Result<Option<TreeRecord>, Failure> {
    let (project, urls) = (record.project.clone(), context.forge.urls.clone());
    let path = query.path.clone();
    let read = context
        .forge
        .git_read(record.grant.project(), move |reader| query.read(reader, &project, &urls));
    let found = visible(read.await)?.flatten();
    Ok(found.map(|(commit, contents)| TreeRecord {
        project: record.project.clone(),
        name,
        commit,
        path,
        contents: Arc::new(contents),
    }))
}

/// A folder in pages: each page is one tree with some of the entries.
pub(super) async fn pages(
    context: &Context,
    record: &RepositoryRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(query) = TreeQuery::of(arguments, "nodes.") else { return Ok(Value::Null) };
    let name = shown_name(&record.project, arguments);
    let offset = page.offset();
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let query = TreeQuery { skip, take: Some(page.limit() + 1), ..query };
    let Some(mut tree) = read(context, record, name, query).await? else { return Ok(Value::Null) };
    let mut entries = tree.contents.entries.clone();
    let more = entries.len() > page.limit();
    entries.truncate(page.limit());
    let end = offset.saturating_add(u64::try_from(entries.len()).unwrap_or(u64::MAX));
    tree.contents = Arc::new(TreeContents {
        entries,
        large_files: tree.contents.large_files.clone(),
        submodules: tree.contents.submodules.clone(),
    });
    let rows = match end > offset {
        true => vec![(Cursor::at(end), Value::object("Tree", Arc::new(tree)))],
        false => Vec::new(),
    };
    Ok(Connection::new(&page, rows, more).into())
}

/// The newest commit that changed the folder.
async fn last_commit(context: &Context, record: &TreeRecord) -> Result<Value, Failure> {
    let (answers, path, tip) = (context.forge.answers.clone(), record.path.clone(), record.commit);
    let read = context.forge.git_read(record.project.id(), move |reader| {
        let id = match path.is_root() {
            true => Some(tip),
            false => answers.last_commit(reader, tip, &path, deadline())?,
        };
        Ok(id.map(|id| reader.commit(id)).transpose()?)
    });
    let found = visible(read.await)?.flatten();
    Ok(found.map_or(Value::Null, |found| commit(record.project.clone(), found)))
}

#[cfg(test)]
mod tests {
    use forge::urls::Urls;

    use super::{modules, web_address};

    #[test]
    fn submodules_are_read_with_their_paths_and_addresses() {
        let text = "[submodule \"a\"]\n\tpath = lib/a\n\turl = ../a.git\n[submodule \"b\"]\npath=b\nurl=\"x\"\n";
        let pair = |path: &str, url: &str| (path.to_owned(), url.to_owned());
        assert_eq!(modules(text), [pair("lib/a", "../a.git"), pair("b", "x")]);
    }

    #[test]
    fn a_submodule_leads_to_a_page_where_there_is_one() {
        let urls = Urls::new("http://forge.test");
        for (address, page) in [
            ("../other.git", Some("http://forge.test/group/other")),
            ("https://host.test/a/b.git", Some("https://host.test/a/b")),
            ("git@host.test:a/b.git", Some("https://host.test/a/b")),
            ("ssh://git@host.test/a/b.git", Some("https://host.test/a/b")),
            ("/srv/git/b.git", None),
        ] {
            let found = web_address(address, "group/project", &urls);
            assert_eq!(found.as_deref(), page, "{address}");
        }
    }
}
