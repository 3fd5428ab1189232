//! One import step: fetched and resolved first, then written in one transaction with the cursor.

use std::collections::{BTreeMap, HashMap, HashSet};

use admin::import::{Import, ImportStats, ImportStore as _, NewFailure, Relation};
use db::Tx;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{MergeRequestId, ProjectId, ReleaseId, UserId},
};
use org::member::{NewMember, Source, steps, store::MemberStore as _};
use repo::{
    lfs::{LfsId, LfsStore as _},
    protection::{self, branch_presets::DefaultProtection},
    release::{
        NewRelease, ReleaseStore as _,
        link::{self, NewLink},
    },
};
use review::{
    activity::import::{ImportedChange, ImportedEvent, insert_events},
    issue::import::{ImportedIssue, insert_issues},
    item::{
        ItemId, ItemKind,
        import::ids_by_iid,
        import_text::{ImportedText, save_texts},
    },
    label::import::{ImportedLabel, insert_labels},
    merge_request::{
        Columns, MergeRequestState, MergeRequestStore as _,
        import::{ImportedMergeRequest, insert_approvals, insert_merge_requests},
    },
    milestone::import::{ImportedMilestone, insert_milestones},
    note::{
        NoteType,
        import::{ImportedNote, insert_notes},
    },
};

use crate::{merge_request::head_refs::enqueue_head, ports::review::OrgHierarchy};

/// A note of an item that the source names by its number.
#[derive(Clone, Debug)]
pub(crate) struct NumberedNote {
    /// Its id at the source.
    pub(crate) id: String,
    pub(crate) number: i64,
    pub(crate) discussion: String,
    pub(crate) note_type: Option<NoteType>,
    pub(crate) body: String,
    pub(crate) author: UserId,
    pub(crate) is_system: bool,
    pub(crate) position: Option<String>,
    pub(crate) created_at: Ts,
    pub(crate) updated_at: Ts,
}

/// Something that happened to an item that the source names by its number.
#[derive(Clone, Debug)]
pub(crate) struct NumberedEvent {
    pub(crate) id: String,
    pub(crate) number: i64,
    pub(crate) user: UserId,
    pub(crate) change: ImportedChange,
    pub(crate) at: Ts,
}

/// Details of a merge request that lists do not contain.
#[derive(Clone, Debug)]
pub(crate) struct MergeRequestDetails {
    pub(crate) number: i64,
    pub(crate) merged_by: Option<UserId>,
    pub(crate) approvals: Vec<(UserId, Ts)>,
    pub(crate) notes: Vec<(Relation, NumberedNote)>,
}

/// Rows to be written.
#[derive(Clone, Debug, Default)]
pub(crate) enum Batch {
    #[default]
    Nothing,
    Labels(Vec<ImportedLabel>),
    Milestones(Vec<ImportedMilestone>),
    Collaborators(Vec<(UserId, AccessLevel)>),
    ProtectedBranches(Vec<String>),
    MergeRequests(Vec<ImportedMergeRequest>),
    Details(Vec<MergeRequestDetails>),
    Issues(Vec<ImportedIssue>),
    Notes(Relation, Vec<NumberedNote>),
    Events(Vec<NumberedEvent>),
    LfsObjects(Vec<(LfsId, i64)>),
    /// With the files of each, by its tag.
    Releases(Vec<NewRelease>, HashMap<String, Vec<NewLink>>),
    Attachments(AttachmentBatch),
}

/// What became of the files that some texts name.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttachmentBatch {
    /// Texts of items with the addresses of files that were kept.
    pub(crate) texts: Vec<ImportedText>,
    /// The same for releases.
    pub(crate) descriptions: Vec<(ReleaseId, String)>,
    /// Files that were not kept, each as [`Relation::Attachment`] is remembered: nobody asks for them again.
    pub(crate) lost: Vec<String>,
}

/// All that a step leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) batch: Batch,
    /// How many things came from the source, where they are counted.
    pub(crate) fetched: Option<(Relation, usize)>,
    pub(crate) failures: Vec<NewFailure>,
    /// People who were looked up.
    pub(crate) people: HashMap<String, Option<UserId>>,
    /// Where to go on; nothing where the stage is done.
    pub(crate) next: Option<String>,
    /// Seconds until the source is to be asked again.
    pub(crate) pause: Option<i64>,
}

impl Step {
    /// Writes everything but the progress itself, and counts it.
    pub(crate) fn write(
        &self,
        tx: &mut Tx<'_>,
        import: &Import,
        stats: &mut ImportStats,
    ) -> Result<()> {
        let project = import.project_id;
        tx.save_imported_users(project, &self.people)?;
        tx.insert_failures(project, &self.failures)?;
        if let Some((relation, count)) = self.fetched {
            stats.count(relation, count, 0);
        }
        match &self.batch {
            Batch::Nothing => {}
            Batch::Labels(rows) => {
                stats.count(Relation::Label, 0, insert_labels(tx, project, rows)?);
            }
            Batch::Milestones(rows) => {
                stats.count(Relation::Milestone, 0, insert_milestones(tx, project, rows)?);
            }
            Batch::Collaborators(people) => {
                let count = add_members(tx, import, people)?;
                stats.count(Relation::Collaborator, 0, count);
            }
            Batch::ProtectedBranches(names) => {
                for name in names {
                    let level = DefaultProtection::Full;
                    protection::branch_presets::protect_default_branch(tx, project, name, level)?;
                }
                stats.count(Relation::ProtectedBranch, 0, names.len());
            }
            Batch::MergeRequests(rows) => {
                let made = insert_merge_requests(tx, project, rows)?;
                for id in &made {
                    enqueue_head(tx, *id)?;
                }
                stats.count(Relation::PullRequest, 0, made.len());
            }
            Batch::Details(all) => {
                all.iter().try_for_each(|one| write_details(tx, project, one, stats))?;
            }
            Batch::Issues(rows) => {
                stats.count(Relation::Issue, 0, insert_issues(tx, project, rows)?);
            }
            Batch::Notes(relation, rows) => {
                let count = write_notes(tx, project, *relation, rows)?;
                stats.count(*relation, 0, count);
            }
            Batch::Events(rows) => {
                stats.count(Relation::IssueEvent, 0, write_events(tx, project, rows)?);
            }
            Batch::Releases(rows, links) => {
                stats.count(Relation::Release, 0, write_releases(tx, project, rows, links)?);
            }
            Batch::Attachments(found) => {
                write_attachments(tx, project, found)?;
                let kept = self.fetched.map_or(0, |(_, count)| count);
                stats.count(Relation::Attachment, 0, kept);
            }
            Batch::LfsObjects(objects) => {
                add_lfs_objects(tx, project, objects)?;
                stats.count(Relation::LfsObject, 0, objects.len());
            }
        }
        Ok(())
    }
}

fn write_attachments(tx: &mut Tx<'_>, project: ProjectId, found: &AttachmentBatch) -> Result<()> {
    save_texts(tx, &found.texts)?;
    for (release, text) in &found.descriptions {
        tx.save_release_description(*release, text)?;
    }
    tx.insert_objects(project, Relation::Attachment, &found.lost)
}

fn write_releases(
    tx: &mut Tx<'_>,
    project: ProjectId,
    rows: &[NewRelease],
    links: &HashMap<String, Vec<NewLink>>,
) -> Result<usize> {
    let count = tx.insert_releases(project, rows)?;
    let tags: Vec<String> = links.keys().cloned().collect();
    let releases = tx.releases_of_tags(project, &tags)?;
    link::actions::insert_imported(tx, &releases, links.clone())?;
    Ok(count)
}

fn add_lfs_objects(tx: &mut Tx<'_>, project: ProjectId, objects: &[(LfsId, i64)]) -> Result<()> {
    for (id, size) in objects {
        tx.add_lfs_object(project, id, *size)?;
    }
    Ok(())
}

/// Makes people members who are none.
fn add_members(
    tx: &mut Tx<'_>,
    import: &Import,
    people: &[(UserId, AccessLevel)],
) -> Result<usize> {
    let source = Source::Project(import.project_id);
    let mut count = 0;
    for (user, level) in people {
        if tx.find_member(source, *user)?.is_none() {
            let new = NewMember {
                source,
                user_id: *user,
                access_level: *level,
                expires_at: None,
                created_by: Some(import.user_id),
            };
            steps::insert(tx, &new)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Which items the numbers of a source are here: merge requests and issues share them there.
fn items(
    tx: &mut Tx<'_>,
    project: ProjectId,
    numbers: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, ItemId>> {
    let numbers: Vec<i64> = numbers.collect::<HashSet<_>>().into_iter().collect();
    let mut found = HashMap::new();
    for kind in [ItemKind::Issue, ItemKind::MergeRequest] {
        let ids = ids_by_iid(tx, project, kind, &numbers)?;
        found.extend(ids.into_iter().map(|(iid, id)| (iid, ItemId { kind, id })));
    }
    Ok(found)
}

fn write_notes(
    tx: &mut Tx<'_>,
    project: ProjectId,
    relation: Relation,
    rows: &[NumberedNote],
) -> Result<usize> {
    let items = items(tx, project, rows.iter().map(|row| row.number))?;
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let mut known = tx.known_objects(project, relation, &ids)?;
    let (mut new, mut written) = (Vec::new(), Vec::new());
    for row in rows {
        let Some(item) = items.get(&row.number).copied() else { continue };
        // Pages shift when something is added or removed at the source meanwhile.
        if !known.insert(row.id.clone()) {
            continue;
        }
        written.push(row.id.clone());
        new.push(ImportedNote {
            item,
            discussion: row.discussion.clone(),
            // Issues have no threads about lines.
            note_type: row.note_type.filter(|_| item.kind == ItemKind::MergeRequest),
            body: row.body.clone(),
            author: row.author,
            is_system: row.is_system,
            position: row.position.clone(),
            about: None,
            created_at: row.created_at,
            updated_at: row.updated_at,
        });
    }
    tx.insert_objects(project, relation, &written)?;
    insert_notes(tx, project, &new)
}

fn write_events(tx: &mut Tx<'_>, project: ProjectId, rows: &[NumberedEvent]) -> Result<usize> {
    let items = items(tx, project, rows.iter().map(|row| row.number))?;
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let mut known = tx.known_objects(project, Relation::IssueEvent, &ids)?;
    let (mut new, mut written) = (Vec::new(), Vec::new());
    for row in rows {
        let Some(item) = items.get(&row.number).copied() else { continue };
        if known.insert(row.id.clone()) {
            written.push(row.id.clone());
            let (user, change, at) = (row.user, row.change.clone(), row.at);
            new.push(ImportedEvent { item, user, change, at });
        }
    }
    tx.insert_objects(project, Relation::IssueEvent, &written)?;
    insert_events(tx, &OrgHierarchy, project, &new)
}

fn write_details(
    tx: &mut Tx<'_>,
    project: ProjectId,
    one: &MergeRequestDetails,
    stats: &mut ImportStats,
) -> Result<()> {
    let Some(row) = tx.find_merge_request(project, one.number)? else { return Ok(()) };
    if let Some(user) = one.merged_by.filter(|_| row.state == MergeRequestState::Merged) {
        let columns = Columns { merge_user_id: Some(Some(user)), ..Columns::default() };
        tx.change_merge_request(row.id, &columns)?;
        stats.count(Relation::PullRequestMergedBy, 0, 1);
    }
    approve(tx, row.id, &one.approvals)?;
    let mut by_relation: BTreeMap<Relation, Vec<NumberedNote>> = BTreeMap::new();
    for (relation, note) in &one.notes {
        by_relation.entry(*relation).or_default().push(note.clone());
    }
    for (relation, notes) in by_relation {
        let count = write_notes(tx, project, relation, &notes)?;
        stats.count(relation, notes.len(), count);
    }
    Ok(())
}

fn approve(tx: &mut Tx<'_>, of: MergeRequestId, people: &[(UserId, Ts)]) -> Result<()> {
    insert_approvals(tx, of, people).map(drop)
}
