//! Files with their content.

use std::sync::Arc;

use bytes::Bytes;
use forge::{branch::protection_of, pipeline::config_path};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::ids::UserId;
use org::user::names;
use repo::{
    code_owners::{self, CodeOwners, Owner},
    git::{EntryInfo, EntryKind, Oid, Reader, TreePath, reader::language_of},
    lfs::Pointer,
    protection::Protection,
};

use super::{RepositoryRecord, commit_named, shown_name};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    join::try_join_all,
    people,
    projects::ProjectRecord,
    values::{path_of, texts},
};

/// A file of a commit.
struct BlobRecord {
    project: Arc<ProjectRecord>,
    /// The revision as addresses have it.
    name: String,
    commit: Oid,
    file: File,
    may_push: bool,
    owners: Arc<[UserId]>,
}

/// A file read from a repository.
struct File {
    entry: EntryInfo,
    size: u64,
    /// The content, where it was wanted, or is short enough to point to a large file.
    content: Option<Bytes>,
    pointer: Option<Pointer>,
    owners: Vec<String>,
}

/// The contents of all files of a query together have no more bytes.
const CONTENT_LIMIT: u64 = 20 << 20;
const TOO_LARGE: &str = "The total size of the requested blobs exceeds 20 MiB.";
/// No pointer to a large file is longer.
const LONGEST_POINTER: u64 = 1024;
/// A larger file is shown when somebody asks for it.
const COLLAPSED: u64 = 1 << 20;
/// A larger file is not shown.
const NOT_SHOWN: u64 = 10 << 20;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["BlobViewer"]);
    let fields = registry
        .object::<BlobRecord>("RepositoryBlob")
        .plain("archived", |record| record.project.facts.archived.into())
        .plain("canCurrentUserPushToBranch", |record| record.may_push.into())
        .plain("canModifyBlob", |record| (record.may_push && !record.project.facts.archived).into())
        .plain("externalStorage", |record| record.file.pointer.as_ref().map(|_| "lfs").into())
        .plain("id", |record| Value::gid("Blob", record.file.entry.id))
        .plain("language", |record| language_of(&record.file.entry.path).into())
        .plain("lfsOid", |record| {
            record.file.pointer.as_ref().map(|pointer| pointer.id.to_string()).into()
        })
        .plain("mode", |record| record.file.entry.mode.as_str().into())
        .plain("name", |record| record.file.entry.path.name().to_string().into())
        .plain("oid", |record| record.file.entry.id.to_string().into())
        .plain("path", |record| record.path().into())
        .plain("plainData", |record| record.text().into())
        .plain("rawBlob", |record| {
            let content = record.file.content.as_ref();
            content.map(|content| String::from_utf8_lossy(content).into_owned()).into()
        })
        .plain("rawSize", |record| match &record.file.pointer {
            Some(pointer) => pointer.size.into(),
            None => record.file.size.into(),
        })
        .plain("rawTextBlob", |record| record.text().into())
        .plain("richViewer", rich_viewer)
        .plain("simpleViewer", simple_viewer)
        .plain("size", |record| record.file.size.into())
        .plain("storedExternally", |record| record.file.pointer.is_some().into())
        .lookup("codeOwners", |record: Arc<BlobRecord>, _, context| async move {
            let owners = record.owners.iter().map(|id| people::of_id(&context, *id));
            Ok(try_join_all(owners).await?.into())
        })
        .cost("plainData", 2)
        .cost("richViewer", 5)
        .cost("simpleViewer", 5)
        .none(&[
            "codeNavigationPath",
            "environmentExternalUrlForRouteMap",
            "environmentFormattedExternalUrl",
            "externalStorageUrl",
            "fileType",
            "forkAndEditPath",
            "forkAndViewPath",
            "gitpodBlobUrl",
            "ideForkAndEditPath",
        ]);
    add_paths(fields);
}

/// The pages of a file, by the words in their paths.
fn add_paths(fields: graphql::Fields<'_, Context, BlobRecord>) {
    let page = |record: &BlobRecord, context: &Context, word: &str, name: &str| {
        let base = path_of(&context.forge.urls, record.project.web_url());
        format!("{base}/-/{word}/{name}/{}", record.path())
    };
    let mut fields = fields;
    for (field, word) in [
        ("blamePath", "blame"),
        ("editBlobPath", "edit"),
        ("historyPath", "commits"),
        ("rawPath", "raw"),
        ("replacePath", "update"),
        ("webPath", "blob"),
    ] {
        fields = fields.lookup(field, move |record: Arc<BlobRecord>, _, context| async move {
            Ok(page(&record, &context, word, &record.name).into())
        });
    }
    let _fields = fields
        .lookup("findFilePath", |record: Arc<BlobRecord>, _, context| async move {
            let base = path_of(&context.forge.urls, record.project.web_url());
            Ok(format!("{base}/-/find_file/{}", record.name).into())
        })
        .lookup("ideEditPath", |record: Arc<BlobRecord>, _, context| async move {
            let (project, name) = (&record.project.facts.full_path, &record.name);
            let folder = context.forge.urls.folder();
            Ok(format!("{folder}/-/ide/project/{project}/edit/{name}/-/{}", record.path()).into())
        })
        .lookup("permalinkPath", move |record: Arc<BlobRecord>, _, context| async move {
            Ok(page(&record, &context, "blob", &record.commit.to_string()).into())
        })
        .lookup("pipelineEditorPath", |record: Arc<BlobRecord>, _, context| async move {
            let complete = record.project.complete(&context).await?;
            let settings = complete.as_ref().and_then(|complete| complete.settings());
            let own = settings.and_then(|settings| settings.ci_config_path.as_deref());
            let config = config_path(&context.forge, own);
            let base = path_of(&context.forge.urls, record.project.web_url());
            let is_config = config == record.path();
            Ok(is_config.then(|| format!("{base}/-/ci/editor?branch_name={}", record.name)).into())
        })
        .lookup("projectBlobPathRoot", |record: Arc<BlobRecord>, _, context| async move {
            let base = path_of(&context.forge.urls, record.project.web_url());
            Ok(format!("{base}/-/blob/{}", record.name).into())
        });
}

impl BlobRecord {
    fn path(&self) -> String {
        self.file.entry.path.to_text().into_owned()
    }

    /// The content, where it is text.
    fn text(&self) -> Option<String> {
        let content = self.file.content.as_ref()?;
        let text = std::str::from_utf8(content).ok()?;
        (!text.contains('\0')).then(|| text.to_owned())
    }
}

fn viewer(record: &BlobRecord, kind: &'static str, file_type: &'static str) -> Value {
    let (size, external) = (record.file.size, record.file.pointer.is_some());
    let error = match (size > NOT_SHOWN, external) {
        (true, _) => Some("too_large"),
        (false, true) => Some("server_side_but_stored_externally"),
        (false, false) => None,
    };
    Value::fields(
        "BlobViewer",
        [
            ("collapsed", (size > COLLAPSED).into()),
            ("fileType", file_type.into()),
            ("loadAsync", (file_type == "text" || file_type == "markup").into()),
            ("loadingPartialName", "loading".into()),
            ("renderError", error.into()),
            ("tooLarge", (size > NOT_SHOWN).into()),
            ("type", kind.into()),
        ],
    )
}

/// Text is shown as such, anything else is offered for download.
fn simple_viewer(record: &BlobRecord) -> Value {
    let is_text =
        record.text().is_some() || (record.file.content.is_none() && record.file.size > 0);
    let is_text = is_text && record.file.pointer.is_none();
    viewer(record, "simple", if is_text { "text" } else { "download" })
}

/// Files whose content can be shown as more than text.
fn rich_viewer(record: &BlobRecord) -> Value {
    let path = record.path().to_lowercase();
    let file_type = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("md" | "markdown" | "mdown" | "adoc" | "asciidoc" | "org" | "rdoc") => "markup",
        Some("png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "ico") => "image",
        Some("svg") => "svg",
        Some("pdf") => "pdf",
        Some("ipynb") => "notebook",
        Some("csv") => "csv",
        Some("mp4" | "webm" | "mov" | "m4v" | "ogv") => "video",
        Some("mp3" | "oga" | "ogg" | "wav" | "flac") => "audio",
        Some("stl") => "stl",
        _ => return Value::Null,
    };
    viewer(record, "rich", file_type)
}

/// The parts of files that a query selects.
struct BlobQuery {
    paths: Vec<String>,
    revision: Option<String>,
    with_content: bool,
    with_owners: bool,
}

pub(super) async fn list(
    context: &Context,
    record: &RepositoryRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let selects = |field: &str| arguments.selects(&format!("nodes.{field}"));
    let contents = ["plainData", "rawBlob", "rawTextBlob", "richViewer", "simpleViewer"];
    let query = BlobQuery {
        paths: texts(arguments, "paths")?.unwrap_or_default(),
        revision: arguments.maybe_text("ref"),
        with_content: contents.iter().any(|field| selects(field)),
        with_owners: selects("codeOwners"),
    };
    let name = shown_name(&record.project, arguments);
    let project = record.project.clone();
    let read =
        context.forge.git_read(record.grant.project(), move |reader| query.read(reader, &project));
    let Some((commit, files)) = visible(read.await)?.flatten() else {
        return Ok(Connection::of_list(&page, Vec::new()).into());
    };
    let Some(files) = files else { return Err(Failure::message(TOO_LARGE)) };
    let may_push = may_push(context, record, &name).await?;
    let owners = owners(context, &files).await?;
    let blobs = files.into_iter().zip(owners).map(|(file, owners)| {
        let project = record.project.clone();
        let name = name.clone();
        Value::object(
            "RepositoryBlob",
            Arc::new(BlobRecord { project, name, commit, file, may_push, owners }),
        )
    });
    Ok(Connection::of_list(&page, blobs.collect()).into())
}

impl BlobQuery {
    /// The commit and its files; no files where their contents are too large, and nothing where there is no such commit.
    fn read(
        &self,
        reader: &Reader,
        project: &ProjectRecord,
    ) -> kernel::Result<Option<(Oid, Option<Vec<File>>)>> {
        let Some(commit) = commit_named(reader, project, self.revision.as_deref())? else {
            return Ok(None);
        };
        let rules = match self.with_owners {
            true => code_owners::of_branch(reader, commit)?,
            false => CodeOwners::default(),
        };
        let mut left = CONTENT_LIMIT;
        let mut files = Vec::new();
        for path in &self.paths {
            let Ok(path) = TreePath::lookup(path.as_bytes()) else { continue };
            let entry = reader.find_entry(commit, &path)?;
            let Some(entry) = entry.filter(|entry| entry.kind() == EntryKind::Blob) else {
                continue;
            };
            let size = reader.blob_info(entry.id)?.size;
            let wanted = self.with_content && size <= NOT_SHOWN;
            if wanted {
                let Some(rest) = left.checked_sub(size) else { return Ok(Some((commit, None))) };
                left = rest;
            }
            let content = match wanted || size <= LONGEST_POINTER {
                true => Some(reader.blob(entry.id, size)?),
                false => None,
            };
            let pointer = content.as_deref().and_then(Pointer::parse);
            files.push(File { owners: owners_of(&rules, &path), entry, size, content, pointer });
        }
        Ok(Some((commit, Some(files))))
    }
}

/// The names of the users who own a file.
fn owners_of(rules: &CodeOwners, path: &TreePath) -> Vec<String> {
    let path = path.to_text();
    let sections = rules.sections.iter().filter_map(|section| section.owners_of(&path));
    let names = sections.flat_map(|(_, owners)| owners).filter_map(|owner| match owner {
        Owner::Named(name) => Some(name.clone()),
        Owner::Email(_) => None,
    });
    names.collect()
}

/// For each file the users who own it.
async fn owners(context: &Context, files: &[File]) -> Result<Vec<Arc<[UserId]>>, Failure> {
    let mut all: Vec<String> = files.iter().flat_map(|file| file.owners.clone()).collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Ok(files.iter().map(|_| Arc::default()).collect());
    }
    let found = context.forge.db.read(move |tx| names::ids_of(tx, &all)).await;
    let found = found.map_err(failure_of)?;
    let each = files.iter().map(|file| {
        file.owners.iter().filter_map(|name| found.get(name).copied()).collect::<Arc<[UserId]>>()
    });
    Ok(each.collect())
}

/// Whether the caller may push to the branch of this name.
async fn may_push(
    context: &Context,
    record: &RepositoryRecord,
    branch: &str,
) -> Result<bool, Failure> {
    if context.user().is_none() {
        return Ok(false);
    }
    let protection: Protection =
        protection_of(&context.forge, &record.grant).await.map_err(failure_of)?;
    Ok(protection.branch(branch).may_push())
}
