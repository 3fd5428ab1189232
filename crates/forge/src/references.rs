//! What texts name becomes links, as far as whoever reads them may know of it: people, groups, issues, merge requests,
//! labels and milestones.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Ability, Actor, Error, Result,
    ids::{NamespaceId, ProjectId},
    page::PageRequest,
    task::spawn_blocking,
};
use markup::NameLink;
use org::{
    access::{IdOrPath, locate_group},
    user::{names::ids_of, store::UserStore as _},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use review::{
    Home,
    item::ItemKind,
    label::{LabelFilter, LabelStore as _},
    milestone::{MilestoneFilter, MilestoneStore as _},
    policy::{ReadLabels, ReadMilestones},
    ports::{Forge as _, GroupHierarchy as _},
    reference::{ItemName, Reference, References, find, readable_items},
};

use crate::{
    Forge,
    integration::external::{self, ExternalTracker},
    ports::directory::Directory,
    urls::Urls,
    user::visibility::sees_people,
};

/// The project or group of a text, for short references: `#1` is an issue of that project.
#[derive(Clone, Debug)]
pub struct TextContext {
    pub home: Home,
    pub full_path: String,
}

impl TextContext {
    pub fn project(id: ProjectId, full_path: &str) -> Self {
        Self { home: Home::Project(id), full_path: full_path.to_owned() }
    }

    pub fn group(id: NamespaceId, full_path: &str) -> Self {
        Self { home: Home::Group(id), full_path: full_path.to_owned() }
    }
}

/// Makes links in rendered HTML of what this reader may know of.
pub async fn linked(
    forge: &Forge,
    actor: Actor,
    place: Option<TextContext>,
    html: String,
) -> Result<String> {
    let directory = Directory::new(&forge.urls);
    let address = forge.urls.base().to_owned();
    let project = place.as_ref().and_then(|place| match place.home {
        Home::Project(id) => Some(id),
        Home::Group(_) => None,
    });
    let (html, names, address, project) = blocking(move || {
        let mut project = project;
        let mut names = References::default();
        let texts = markup::texts(&html);
        // Looking for a tracker elsewhere is left out where a text cannot name its issues.
        project = project.filter(|_| texts.iter().any(|text| external::may_name(text)));
        for text in texts {
            find(&text, &address).into_iter().for_each(|(_, name)| names.take(name));
        }
        (html, names, address, project)
    })
    .await?;
    if names == References::default() && project.is_none() {
        return Ok(html);
    }
    let urls = forge.urls.clone();
    let known = forge.db.read(move |tx| {
        let reading =
            TextReader { directory: &directory, urls: &urls, actor, place: place.as_ref() };
        let tracker = project.map(|id| external::tracker_of(tx, id)).transpose()?.flatten();
        Ok((reading.known(tx, &names)?, tracker))
    });
    let (known, tracker) = known.await?;
    blocking(move || {
        markup::with_names(&html, |text| {
            let named = find(text, &address).into_iter();
            let own: Vec<NameLink> =
                named.filter_map(|(at, name)| known.get(&name)?.link(text, at)).collect();
            with_external(own, tracker.as_ref(), text)
        })
    })
    .await
}

/// The links of a text with those to issues of a tracker elsewhere, where nothing here has the name.
fn with_external(
    own: Vec<NameLink>,
    tracker: Option<&ExternalTracker>,
    text: &str,
) -> Vec<NameLink> {
    let Some(tracker) = tracker else { return own };
    let mut all = Vec::with_capacity(own.len());
    let mut own = own.into_iter().peekable();
    for (at, address) in tracker.find(text) {
        while let Some(link) = own.next_if(|link| link.at.end <= at.start) {
            all.push(link);
        }
        let is_free = own.peek().is_none_or(|link| at.end <= link.at.start);
        if let Some(written) = text.get(at.clone()).filter(|_| is_free) {
            all.push(NameLink {
                address,
                title: format!("Issue in {}", tracker.title),
                class: "gfm gfm-issue",
                text: written.to_owned(),
                at,
            });
        }
    }
    all.extend(own);
    all
}

/// A long text takes a moment.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    spawn_blocking(work).await.map_err(Error::internal)
}

/// The target of a reference.
#[derive(Debug)]
struct Target {
    address: String,
    title: String,
    class: &'static str,
    /// What is shown instead of the name as it was written.
    text: Option<String>,
}

impl Target {
    fn link(&self, text: &str, at: std::ops::Range<usize>) -> Option<NameLink> {
        let written = text.get(at.clone())?;
        Some(NameLink {
            at,
            address: self.address.clone(),
            title: self.title.clone(),
            class: self.class,
            text: self.text.as_deref().unwrap_or(written).to_owned(),
        })
    }
}

type ReferenceTargets = HashMap<Reference, Target>;

/// Somebody who reads a text.
struct TextReader<'r> {
    directory: &'r Directory,
    urls: &'r Urls,
    actor: Actor,
    place: Option<&'r TextContext>,
}

impl TextReader<'_> {
    fn known(&self, tx: &mut Tx<'_>, names: &References) -> Result<ReferenceTargets> {
        let mut known = ReferenceTargets::new();
        self.people(tx, &names.people, &mut known)?;
        self.items(tx, &names.items, &mut known)?;
        if let Some(place) = self.place {
            self.labels(tx, place, &names.labels, &mut known)?;
            self.milestones(tx, place, &names.milestones, &mut known)?;
        }
        Ok(known)
    }

    fn people(
        &self,
        tx: &mut Tx<'_>,
        names: &[String],
        known: &mut ReferenceTargets,
    ) -> Result<()> {
        const CLASS: &str = "gfm gfm-project_member";
        let found = match sees_people(tx, self.actor)? {
            true => ids_of(tx, names)?,
            false => HashMap::new(),
        };
        let users = tx.users_by_id(&found.values().copied().collect::<Vec<_>>())?;
        for name in names {
            let target = match found.get(name).and_then(|id| users.get(id)) {
                Some(user) => Target {
                    address: self.urls.at(&user.username),
                    title: user.name.clone(),
                    class: CLASS,
                    text: Some(format!("@{}", user.username)),
                },
                None => match locate_group(tx, self.actor, &IdOrPath::Path(name.clone())) {
                    Ok((group, _)) => Target {
                        address: self.urls.at(&format!("groups/{}", group.0.full_path)),
                        title: group.0.name.clone(),
                        class: CLASS,
                        text: Some(format!("@{}", group.0.full_path)),
                    },
                    Err(gone) if gone.is_gone() => continue,
                    Err(failure) => return Err(failure),
                },
            };
            known.insert(Reference::Person(name.clone()), target);
        }
        Ok(())
    }

    fn items(
        &self,
        tx: &mut Tx<'_>,
        names: &[ItemName],
        known: &mut ReferenceTargets,
    ) -> Result<()> {
        let here = self.place.map(|place| place.home);
        let found = readable_items(tx, self.directory, here, self.actor, names)?;
        let projects: Vec<ProjectId> =
            found.iter().filter_map(|(_, item)| item.project()).collect();
        let groups: Vec<NamespaceId> =
            found.iter().filter_map(|(_, item)| item.home.group()).collect();
        let paths = self.directory.paths(tx, &projects)?;
        let group_paths = self.directory.group_paths(tx, &groups)?;
        for (name, item) in found {
            let path = match item.home {
                Home::Project(project) => paths.get(&project).cloned(),
                Home::Group(group) => group_paths.get(&group).map(|path| format!("groups/{path}")),
            };
            let Some(path) = path else { continue };
            let (part, class) = match item.id.kind {
                ItemKind::Issue => ("issues", "gfm gfm-issue"),
                ItemKind::MergeRequest => ("merge_requests", "gfm gfm-merge_request"),
                ItemKind::Epic => ("epics", "gfm gfm-epic"),
            };
            let address = self.urls.at(&format!("{path}/-/{part}/{}", item.iid));
            let target = Target { address, title: item.title, class, text: None };
            known.insert(Reference::Item(name), target);
        }
        Ok(())
    }

    fn labels(
        &self,
        tx: &mut Tx<'_>,
        place: &TextContext,
        titles: &[String],
        known: &mut ReferenceTargets,
    ) -> Result<()> {
        if titles.is_empty() || !self.reads::<ReadLabels>(tx, place)? {
            return Ok(());
        }
        let within = LabelFilter {
            projects: place.home.project().into_iter().collect(),
            groups: self.groups_of(tx, place)?,
            ..LabelFilter::default()
        };
        let mut labels = tx.labels_named(&within, titles)?;
        // Where several have the name, the project's own counts.
        labels.sort_by_key(|label| (label.project_id.is_some(), label.id));
        let issues = self.page_of(place, "issues");
        for label in labels {
            let name = utf8_percent_encode(&label.name, NON_ALPHANUMERIC);
            let target = Target {
                address: format!("{issues}?label_name[]={name}"),
                title: label.description.clone().unwrap_or_default(),
                class: "gfm gfm-label",
                text: Some(label.name.clone()),
            };
            known.insert(Reference::Label(label.name), target);
        }
        Ok(())
    }

    fn milestones(
        &self,
        tx: &mut Tx<'_>,
        place: &TextContext,
        titles: &[String],
        known: &mut ReferenceTargets,
    ) -> Result<()> {
        if titles.is_empty() || !self.reads::<ReadMilestones>(tx, place)? {
            return Ok(());
        }
        let within = MilestoneFilter {
            projects: place.home.project().into_iter().collect(),
            groups: self.groups_of(tx, place)?,
            ..MilestoneFilter::default()
        };
        for title in titles {
            let named = MilestoneFilter { title: Some(title.clone()), ..within.clone() };
            let found = tx.milestones(&named, PageRequest::default())?.items;
            let own = found.iter().find(|milestone| milestone.project_id.is_some());
            let Some(milestone) = own.or(found.first()) else { continue };
            let home = match milestone.namespace_id {
                None => place.full_path.clone(),
                Some(group) => match locate_group(tx, self.actor, &IdOrPath::Id(group.0)) {
                    Ok((group, _)) => format!("groups/{}", group.0.full_path),
                    Err(gone) if gone.is_gone() => continue,
                    Err(failure) => return Err(failure),
                },
            };
            let target = Target {
                address: self.urls.at(&format!("{home}/-/milestones/{}", milestone.iid)),
                title: String::new(),
                class: "gfm gfm-milestone",
                text: Some(format!("%{title}")),
            };
            known.insert(Reference::Milestone(title.clone()), target);
        }
        Ok(())
    }

    /// Whether the reader may read such things where the text is.
    fn reads<A: Ability>(&self, tx: &mut Tx<'_>, place: &TextContext) -> Result<bool> {
        let Some(project) = place.home.project() else { return Ok(true) };
        let who = self.directory.standings_in(tx, self.actor, &[project])?;
        Ok(who.get(&project).is_some_and(A::allows))
    }

    /// The groups whose labels and milestones count where the text is.
    fn groups_of(&self, tx: &mut Tx<'_>, place: &TextContext) -> Result<Vec<NamespaceId>> {
        let mut groups = self.directory.above(tx, place.home)?;
        groups.extend(place.home.group());
        Ok(groups)
    }

    fn page_of(&self, place: &TextContext, page: &str) -> String {
        let start = if place.home.group().is_some() { "groups/" } else { "" };
        self.urls.at(&format!("{start}{}/-/{page}", place.full_path))
    }
}
