//! Repositories as bundles: one file with all objects and refs.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs::File,
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

use db::Tx;
use kernel::{
    Error, Result,
    ids::{PipelineId, ProjectId, UserId},
    task::spawn_blocking,
};
use repo::{
    git::{
        Oid, RefName, RepoPath, Wiki,
        cli::ProcessClass,
        refs::{self, RefMove},
    },
    push::{InternalMove, RefChange, incoming::is_open_to_pushes},
    wiki::journal::WikiJournal as _,
};

use super::failure::ArchiveError;
use crate::{
    Forge,
    deployment::is_deployment_ref,
    import::git,
    keep_around,
    project::create::USUAL_BRANCH,
    runner::pipeline_of_ref,
    wiki::{promise, remeasure},
};

/// How long git may take to write one.
const WRITING: Duration = Duration::from_secs(60 * 60);
/// Bytes of the list of refs, and of one line.
const LONGEST_LIST: u64 = 64 << 20;
const LONGEST_LINE: usize = 1100;
const SIGNATURE: &[u8] = b"# v2 git bundle\n";
/// Refs of the server's own that move in one transaction.
const MOVES_AT_ONCE: usize = 1_000;
/// What bundles hold. Other refs are made anew by whoever asks for them. A branch and a tag of one name have their full names
/// in a bundle: of `--branches` and `--tags` git leaves both out.
const REFS: [&str; 7] = [
    "--glob=refs/heads/*",
    "--glob=refs/tags/*",
    "--glob=refs/notes/*",
    "--glob=refs/merge-requests/*/head",
    "--glob=refs/environments/*/deployments/*",
    "--glob=refs/pipelines/*",
    "--glob=refs/keep-around/*",
];

/// Keeps commits that rows of an archive name, so that the bundle of their repository has them, too.
pub(super) async fn keep_commits(
    forge: &Forge,
    project: ProjectId,
    commits: BTreeSet<Oid>,
) -> Result<()> {
    keep_around::keep(forge, project, commits, &REFS).await
}

/// Writes the bundle of a repository into a file; false where it has nothing.
pub(super) async fn write(forge: &Forge, repository: &RepoPath, into: File) -> Result<bool> {
    let some = forge
        .git
        .at(repository, "rev-list")
        .args(["--max-count=1"])
        .args(REFS)
        .lane(ProcessClass::Background)
        .succeed()
        .await
        .map_err(Error::from)?;
    if some.is_empty() {
        return Ok(false);
    }
    let mut child = forge
        .git
        .at(repository, "bundle")
        .args(["create", "--quiet", "-"])
        .args(REFS)
        .lane(ProcessClass::Background)
        .time_limit(WRITING)
        .start()
        .await
        .map_err(Error::from)?;
    let Some(mut stdout) = child.stdout.take() else {
        return Err(Error::internal("a git child has no pipe"));
    };
    drop(child.stdin.take());
    let mut file = tokio::fs::File::from_std(into);
    tokio::io::copy(&mut stdout, &mut file).await.map_err(Error::internal)?;
    tokio::io::AsyncWriteExt::flush(&mut file).await.map_err(Error::internal)?;
    child.finish().await.map_err(Error::from)?;
    Ok(true)
}

/// The header of a git bundle: its refs, and the offset of the pack.
#[derive(Debug, Default, PartialEq, Eq)]
struct BundleHead {
    refs: Vec<(RefName, Oid)>,
    /// Commits by the pipelines for which they are kept: these have other ids in a copy.
    pipelines: Vec<(PipelineId, Oid)>,
    objects_at: u64,
}

impl BundleHead {
    /// Reads it; refs that this server would give nobody are left out.
    fn read(file: &File) -> Result<Self, ArchiveError> {
        let broken = || ArchiveError::flawed("A bundle of the archive cannot be read.");
        let mut lines = BufReader::new(file).take(LONGEST_LIST);
        let (mut head, mut line, mut names) = (Self::default(), Vec::new(), HashSet::new());
        loop {
            line.clear();
            let count = lines.read_until(b'\n', &mut line)?;
            head.objects_at += u64::try_from(count).unwrap_or_default();
            let is_first = head.objects_at == u64::try_from(count).unwrap_or_default();
            match line.as_slice() {
                SIGNATURE if is_first => continue,
                b"\n" if !is_first => return Ok(head),
                _ if is_first || line.len() > LONGEST_LINE => return Err(broken()),
                _ => {}
            }
            let text = line.strip_suffix(b"\n").ok_or_else(broken)?;
            let place = text.iter().position(|byte| *byte == b' ').ok_or_else(broken)?;
            let (id, name) = text.split_at(place);
            // Lines of what must be there before begin with a sign.
            let id = std::str::from_utf8(id).ok().and_then(|id| id.parse::<Oid>().ok());
            let id = id.ok_or_else(broken)?;
            let name = name.get(1..).unwrap_or_default();
            if !names.insert(name.to_vec()) {
                return Err(broken());
            }
            match std::str::from_utf8(name).ok().and_then(pipeline_of_ref) {
                Some(pipeline) => head.pipelines.push((pipeline, id)),
                None => head.refs.extend(usable_ref(name, id).map(|name| (name, id))),
            }
        }
    }
}

/// The commits of a bundle that are kept for pipelines, by the ids of these in the archive.
pub(super) async fn pipeline_commits(
    bundle: PathBuf,
) -> Result<Vec<(PipelineId, Oid)>, ArchiveError> {
    let read = spawn_blocking(move || -> Result<_, ArchiveError> {
        match File::open(bundle) {
            Ok(file) => Ok(BundleHead::read(&file)?.pipelines),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(cause) => Err(cause.into()),
        }
    });
    read.await.map_err(Error::internal)?
}

fn usable_ref(name: &[u8], id: Oid) -> Option<RefName> {
    let full = RefName::full(name).ok()?;
    let is_deployment = std::str::from_utf8(name).is_ok_and(is_deployment_ref);
    // A ref that keeps a commit is called like it, whatever an archive says.
    let is_kept = keep_around::commit_of(name) == Some(id);
    if is_deployment || is_kept || is_head_of_merge_request(name) {
        return Some(full);
    }
    let name = full.for_new_ref().ok()?;
    is_open_to_pushes(name.as_bstr()).then_some(name)
}

fn is_head_of_merge_request(name: &[u8]) -> bool {
    let text = std::str::from_utf8(name).unwrap_or_default();
    let number =
        text.strip_prefix("refs/merge-requests/").and_then(|rest| rest.strip_suffix("/head"));
    number.is_some_and(|number| {
        number.parse::<i64>().is_ok_and(|iid| iid > 0 && iid.to_string() == number)
    })
}

/// Has git check the objects of a bundle and take them in. Nothing names them yet.
async fn take_in(
    forge: &Forge,
    bundle: &Path,
    into: &RepoPath,
) -> Result<(BundleHead, u64), ArchiveError> {
    let path = bundle.to_owned();
    let read = spawn_blocking(move || -> Result<_, ArchiveError> {
        let mut file = File::open(path)?;
        let head = BundleHead::read(&file)?;
        file.seek(SeekFrom::Start(head.objects_at))?;
        let bytes = file.metadata()?.len().saturating_sub(head.objects_at);
        Ok((file, head, bytes))
    });
    let (file, head, bytes) = read.await.map_err(Error::internal)??;
    git::index(forge, tokio::fs::File::from_std(file), into).await.map_err(|cause| {
        match ArchiveError::from(cause) {
            ArchiveError::Flawed(_) => {
                ArchiveError::flawed("The objects of a bundle of the archive cannot be used.")
            }
            own => own,
        }
    })?;
    forge.repositories.forget(into);
    let (repositories, at) = (forge.repositories.clone(), into.clone());
    let read = spawn_blocking(move || -> Result<_, ArchiveError> {
        let reader = repositories.open(&at)?;
        let mut refs = Vec::with_capacity(head.refs.len());
        for (name, id) in head.refs {
            if !reader.has(id) {
                let flaw = "A bundle of the archive names objects that it lacks.";
                return Err(ArchiveError::flawed(flaw));
            }
            let is_commit = reader.is_commit(id)?;
            if name.is_branch() && !is_commit {
                let flaw = "A bundle of the archive has a branch that is no commit.";
                return Err(ArchiveError::flawed(flaw));
            }
            let is_kept = keep_around::commit_of(name.as_bstr()).is_some();
            if !is_kept || is_commit {
                refs.push((name, id));
            }
        }
        Ok(BundleHead { refs, ..head })
    });
    Ok((read.await.map_err(Error::internal)??, bytes))
}

/// Brings a bundle into the repository of a project; done again, it does what is left.
pub(super) async fn land(
    forge: &Forge,
    bundle: &Path,
    project: ProjectId,
    user: UserId,
    default_branch: Option<&str>,
) -> Result<(), ArchiveError> {
    let repository = forge.storage.repository(project);
    let (head, bytes) = take_in(forge, bundle, &repository).await?;
    let now = refs::read(&repository, head.refs.iter().map(|(name, _)| name)).await?;
    let is_new = |(name, id): &&(RefName, Oid)| now.get(name) != Some(id);
    let (shown, own): (Vec<_>, Vec<_>) = head
        .refs
        .iter()
        .filter(is_new)
        .cloned()
        .partition(|(name, _)| is_open_to_pushes(name.as_bstr()));
    for some in own.chunks(MOVES_AT_ONCE) {
        if forge.move_own(project, moves(some, &now)).await? != InternalMove::Done {
            return Err(Error::conflict().whole("a ref that keeps commits has moved").into());
        }
    }
    let changes: Vec<RefChange> = shown
        .into_iter()
        .map(|(name, id)| RefChange {
            forced: now.contains_key(&name),
            ..RefChange::plain(name.clone(), now.get(&name).copied(), Some(id))
        })
        .collect();
    let branch = default_branch.and_then(|name| RefName::branch(name).ok());
    let branch = branch.filter(|branch| changes.iter().any(|change| change.name == *branch));
    git::push(forge, project, user, changes, branch, bytes).await?;
    Ok(())
}

fn moves(refs: &[(RefName, Oid)], now: &HashMap<RefName, Oid>) -> Vec<RefMove> {
    let one = |(name, id): &(RefName, Oid)| RefMove {
        name: name.clone(),
        old: now.get(name).copied().into(),
        new: Some(*id),
    };
    refs.iter().map(one).collect()
}

/// Brings a bundle into a wiki.
pub(super) async fn land_wiki(
    forge: &Forge,
    bundle: &Path,
    wiki: Wiki,
) -> Result<(), ArchiveError> {
    let usual = RefName::branch(USUAL_BRANCH).map_err(Error::from)?;
    let (storage, first) = (forge.storage.clone(), usual.clone());
    let made = spawn_blocking(move || match storage.wiki_exists(wiki) {
        true => Ok(()),
        false => storage.create_wiki(wiki, &first).map(drop),
    });
    made.await.map_err(Error::internal)??;
    let repository = forge.storage.wiki(wiki);
    let (head, _) = take_in(forge, bundle, &repository).await?;
    let branches: Vec<(RefName, Oid)> =
        head.refs.into_iter().filter(|(name, _)| name.is_branch()).collect();
    let now = refs::read(&repository, branches.iter().map(|(name, _)| name)).await?;
    let new: Vec<(RefName, Oid)> =
        branches.iter().filter(|(name, id)| now.get(name) != Some(id)).cloned().collect();
    let moves = moves(&new, &now);
    if moves.is_empty() {
        return Ok(());
    }
    let prepared = refs::prepare(&repository, &moves).await?;
    let noted = moves.clone();
    let decided = move |tx: &mut Tx<'_>| {
        tx.save_wiki_moves(wiki, &noted)?;
        promise(tx, wiki)
    };
    if let Err(refusal) = forge.db.write(decided).await {
        if let Err(cause) = prepared.abort().await {
            tracing::warn!(error = %cause, "a wiki was not given back cleanly");
        }
        return Err(refusal.into());
    }
    prepared.commit().await?;
    let is_usual = branches.iter().any(|(name, _)| *name == usual);
    let head = match branches.first() {
        Some((first, _)) if !is_usual => first.clone(),
        _ => usual,
    };
    refs::set_head(&repository, &head).await?;
    Ok(remeasure(forge, wiki, moves).await?)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use kernel::ids::PipelineId;

    use super::{BundleHead, Oid};

    const ID: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

    fn head(text: &str) -> Result<BundleHead, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        BundleHead::read(&file).map_err(|flaw| flaw.to_string())
    }

    #[test]
    fn refs_of_a_bundle_are_those_of_people_and_those_that_keep_commits() {
        let names = [
            "HEAD",
            "refs/heads/main",
            "refs/tags/v1",
            "refs/merge-requests/7/head",
            "refs/merge-requests/07/head",
            "refs/environments/review-one/deployments/3",
            "refs/environments/review-one/deployments/03",
            "refs/environments/Review/deployments/3",
            "refs/environments/review-one/deployments/3/4",
            "refs/pipelines/3",
            "refs/heads/../../x",
            "refs/notes/commits",
            &format!("refs/keep-around/{ID}"),
            &format!("refs/keep-around/{}", ID.replace('e', "f")),
            &format!("refs/keep-around/{}", ID.to_uppercase()),
            "refs/keep-around/x",
        ];
        let lines: String = names.iter().map(|name| format!("{ID} {name}\n")).collect();
        let found = head(&format!("# v2 git bundle\n{lines}\nPACK")).unwrap();
        let kept: Vec<String> = found.refs.iter().map(|(name, _)| name.to_string()).collect();
        assert_eq!(
            kept,
            [
                "refs/heads/main",
                "refs/tags/v1",
                "refs/merge-requests/7/head",
                "refs/environments/review-one/deployments/3",
                "refs/notes/commits",
                &format!("refs/keep-around/{ID}"),
            ]
        );
        assert_eq!(found.pipelines, [(PipelineId(3), ID.parse::<Oid>().unwrap())]);
    }

    #[test]
    fn bundles_that_need_other_objects_or_are_none_are_refused() {
        for text in [
            "",
            "PACK",
            "# v3 git bundle\n\n",
            "# v2 git bundle\n",
            &format!("# v2 git bundle\n-{ID} before\n\n"),
            "# v2 git bundle\nx refs/heads/main\n\n",
            &format!("# v2 git bundle\n{ID} refs/heads/a\n{ID} refs/heads/a\n\n"),
        ] {
            assert!(head(text).is_err(), "{text}");
        }
    }
}
