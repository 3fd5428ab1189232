//! The wikis of projects and groups: how one is found by its address, and who may read or push there.

use db::Tx;
use kernel::{
    Ability, Actor, Error, Result, Standing, access::FeatureAccess, task::spawn_blocking,
};
use org::{
    access::{IdOrPath, locate_group, locate_project},
    namespace::{model::WikiAccess, store::NamespaceStore},
    settings::store::SettingsStore,
};
use repo::{
    git::{GitError, RefName, RepoPath, Wiki, service::Service},
    policy::{ReadGroupWiki, ReadWiki, WriteGroupWiki, WriteWiki},
};

use super::{
    Refusal,
    authenticate::Visitor,
    authorize::{AuthorizedRepository, ensure_open},
    kind::Kind,
};
use crate::app::App;

/// What stands behind the address of a project or group.
pub(super) const SUFFIX: &str = ".wiki";

/// A user's permissions on a wiki.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rights {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

pub(super) fn rights(wiki: Wiki, who: &Standing) -> Rights {
    match wiki {
        Wiki::Project(_) => Rights { reads: ReadWiki::allows(who), writes: WriteWiki::allows(who) },
        Wiki::Group(_) => {
            Rights { reads: ReadGroupWiki::allows(who), writes: WriteGroupWiki::allows(who) }
        }
    }
}

pub(super) async fn enter(
    app: &App,
    visitor: &Visitor,
    address: &str,
    service: Service,
) -> Result<AuthorizedRepository, Refusal> {
    let home = address.strip_suffix(SUFFIX).unwrap_or(address).to_owned();
    let actor = visitor.actor();
    let (wiki, full_path, who) = match app.db.peek(move |tx| find(tx, actor, &home)).await {
        Ok(found) => found,
        // Whoever has not signed in may see it afterwards.
        Err(gone) if gone.is_gone() && visitor.user.is_none() => return Err(Refusal::NoCredential),
        Err(gone) if gone.is_gone() => return Err(Refusal::NoWiki),
        Err(other) => return Err(other.into()),
    };
    if let Wiki::Project(project) = wiki {
        ensure_open(app, visitor, project).await?;
    }
    let rights = rights(wiki, &who);
    match service {
        _ if !rights.reads && visitor.user.is_none() => return Err(Refusal::NoCredential),
        _ if !rights.reads => return Err(Refusal::MayNotReadWiki),
        Service::ReceivePack if who.archived => return Err(Refusal::Archived),
        Service::ReceivePack if !rights.writes => return Err(Refusal::MayNotPushToWiki),
        Service::ReceivePack | Service::UploadPack => {}
    }
    let path = open(app, wiki, rights.writes).await?;
    Ok(AuthorizedRepository { kind: Kind::Wiki(wiki), path, full_path, who, made: None })
}

/// The wiki of the project or group at this path.
fn find(tx: &mut Tx<'_>, actor: Actor, home: &str) -> Result<(Wiki, String, Standing)> {
    let home = IdOrPath::Path(home.to_owned());
    match locate_project(tx, actor, &home) {
        Ok((project, who)) => Ok((Wiki::Project(project.0.id), project.0.full_path.clone(), who)),
        Err(gone) if gone.is_gone() => group(tx, actor, &home),
        Err(other) => Err(other),
    }
}

fn group(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Wiki, String, Standing)> {
    let (group, mut who) = locate_group(tx, actor, id)?;
    let settings = tx.namespace(group.0.id)?.settings();
    who.features.wiki = match settings.wiki_access_level {
        WikiAccess::Disabled => FeatureAccess::Disabled,
        WikiAccess::Private => FeatureAccess::Private,
        WikiAccess::Enabled => FeatureAccess::Enabled,
    };
    Ok((Wiki::Group(group.0.id), group.0.full_path.clone(), who))
}

/// How somebody stands to a wiki now.
pub(super) fn standing(tx: &mut Tx<'_>, actor: Actor, wiki: Wiki) -> Result<Standing> {
    match wiki {
        Wiki::Project(project) => Ok(locate_project(tx, actor, &IdOrPath::Id(project.0))?.1),
        Wiki::Group(id) => Ok(group(tx, actor, &IdOrPath::Id(id.0))?.2),
    }
}

/// Where the wiki lies. One that nobody has written yet is made for those who may write; others read an empty one.
async fn open(app: &App, wiki: Wiki, writes: bool) -> Result<RepoPath> {
    if app.storage.wiki_exists(wiki) {
        return Ok(app.storage.wiki(wiki));
    }
    let branch = app.db.peek(|tx| Ok(tx.settings()?.default_branch())).await?;
    let (storage, head) = (app.storage.clone(), RefName::branch(&branch)?);
    let made = spawn_blocking(move || match writes {
        false => storage.nothing(&head),
        true => match storage.create_wiki(wiki, &head) {
            // Somebody else made it in the same moment.
            Err(GitError::Io(_)) if storage.wiki_exists(wiki) => Ok(storage.wiki(wiki)),
            made => made,
        },
    });
    Ok(made.await.map_err(Error::internal)??)
}
