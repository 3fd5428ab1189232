//! `GET /jwt/auth`: a registry of images sends its clients here for a token that says what they may pull and push.

use std::collections::BTreeSet;

use actix_web::{HttpRequest, HttpResponse, http::Method};
use forge::{
    external_authorization::ensure_admitted,
    registry_token::{self, ImageAccess, SERVICE},
};
use kernel::{Ability as _, Error, Result, Standing, access::FeatureAccess, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project},
    project::settings::SettingsStore as _,
    token::Scope,
};
use percent_encoding::percent_decode_str;
use repo::policy::{PushCode, ReadCode};
use serde_json::json;

use super::{
    Refusal,
    authenticate::{self, Visitor},
};
use crate::app::App;

const PATH: &str = "/jwt/auth";
/// Repositories that one token is asked for at most.
const MOST_SCOPES: usize = 20;
const READS: [Scope; 4] = [Scope::ReadRegistry, Scope::WriteRegistry, Scope::ReadApi, Scope::Api];
const WRITES: [Scope; 2] = [Scope::WriteRegistry, Scope::Api];

/// Whether a request asks for such a token.
pub(crate) fn is_asked(req: &HttpRequest) -> bool {
    req.uri().path() == PATH && *req.method() == Method::GET
}

/// `repository:group/project/image:pull,push`
struct RepositoryScope {
    name: String,
    actions: BTreeSet<String>,
}

impl RepositoryScope {
    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        let (name, actions) = rest.rsplit_once(':')?;
        let actions = actions.split(',').map(str::to_owned).collect();
        (kind == "repository").then(|| Self { name: name.to_owned(), actions })
    }

    /// The paths of which one is the project's: images may have names below it.
    fn projects(&self) -> impl Iterator<Item = &str> {
        let parts = self.name.match_indices('/').map(|(at, _)| at).chain([self.name.len()]);
        let mut ends: Vec<usize> = parts.skip(1).collect();
        ends.reverse();
        ends.truncate(3);
        ends.into_iter().filter_map(|end| self.name.get(..end))
    }
}

pub(crate) async fn answer(app: &App, req: &HttpRequest) -> HttpResponse {
    let values = |name: &str| {
        let pairs = req.query_string().split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.filter(|(key, _)| *key == name);
        let found = found.map(|(_, value)| value.replace('+', " "));
        found
            .map(|value| percent_decode_str(&value).decode_utf8_lossy().into_owned())
            .collect::<Vec<String>>()
    };
    if values("service").first().map(String::as_str) != Some(SERVICE) {
        return HttpResponse::NotFound().json(json!({ "message": "404 Service Not Found" }));
    }
    let wanted = values("scope");
    let wanted = wanted.iter().flat_map(|text| text.split(' ')).filter_map(RepositoryScope::parse);
    match grant(app, req, wanted.take(MOST_SCOPES).collect()).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.response(),
    }
}

async fn grant(
    app: &App,
    req: &HttpRequest,
    wanted: Vec<RepositoryScope>,
) -> Result<HttpResponse, Refusal> {
    let visitor = authenticate::enter(app, req).await?;
    let mut access = Vec::new();
    for one in wanted {
        access.extend(allowed(app, &visitor, one).await?);
    }
    let subject = visitor.user.as_ref().map(|user| user.username.clone()).unwrap_or_default();
    let token = registry_token::sign(app, subject, access).await?;
    Ok(HttpResponse::Ok().insert_header(("Cache-Control", "no-store")).json(token))
}

/// What of the wish the visitor may do; nothing where there is no such project for them.
async fn allowed(
    app: &App,
    visitor: &Visitor,
    wanted: RepositoryScope,
) -> Result<Option<ImageAccess>> {
    let Some((project, who)) = find(app, visitor, &wanted).await? else { return Ok(None) };
    match ensure_admitted(app, visitor.actor(), project).await {
        Err(gone) if gone.is_gone() => return Ok(None),
        admitted => admitted?,
    }
    let has = |scopes: &[Scope]| {
        let known = visitor.scopes.as_ref();
        known.is_none_or(|known| scopes.iter().any(|scope| known.has(*scope)))
    };
    let may_read = (visitor.user.is_none() || has(&READS)) && ReadCode::allows(&who);
    let may_write = visitor.user.is_some() && has(&WRITES) && PushCode::allows(&who);
    let all = [("pull", may_read), ("push", may_write), ("delete", may_write)];
    let actions = all.into_iter().filter(|(name, may)| *may && wanted.actions.contains(*name));
    let actions: Vec<&str> = actions.map(|(name, _)| name).collect();
    let name = wanted.name;
    Ok((!actions.is_empty()).then_some(ImageAccess { r#type: "repository", name, actions }))
}

/// The project that an image is of, with how the visitor stands there; none where it has no registry for them.
async fn find(
    app: &App,
    visitor: &Visitor,
    wanted: &RepositoryScope,
) -> Result<Option<(ProjectId, Standing)>> {
    let actor = visitor.actor();
    let paths: Vec<String> = wanted.projects().map(str::to_owned).collect();
    let found = app.db.read(move |tx| {
        for path in paths {
            let (project, who) = match locate_project(tx, actor, &IdOrPath::Path(path)) {
                Err(gone) if gone.is_gone() => continue,
                found => found?,
            };
            let settings = tx.project_settings(project.0.id)?;
            let is_open = match settings.container_registry_access_level {
                FeatureAccess::Disabled => false,
                FeatureAccess::Private => who.is(kernel::AccessLevel::Guest),
                FeatureAccess::Enabled | FeatureAccess::Public => true,
            };
            return Ok::<_, Error>(is_open.then_some((project.0.id, who)));
        }
        Ok(None)
    });
    found.await
}

#[cfg(test)]
mod tests {
    use super::RepositoryScope;

    #[test]
    fn an_image_belongs_to_the_longest_path_that_is_a_project() {
        let wanted = RepositoryScope::parse("repository:a/b/c/d/e:pull,push").unwrap();
        assert_eq!(wanted.projects().collect::<Vec<_>>(), ["a/b/c/d/e", "a/b/c/d", "a/b/c"]);
        assert!(wanted.actions.contains("pull") && wanted.actions.contains("push"));
        let short = RepositoryScope::parse("repository:a/b:pull").unwrap();
        assert_eq!(short.projects().collect::<Vec<_>>(), ["a/b"]);
        assert!(RepositoryScope::parse("registry:catalog:*").is_none());
    }
}
