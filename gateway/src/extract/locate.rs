//! Finds the scope that a path names, and how the caller stands in it.

use db::Tx;
use kernel::{
    Actor, Result, Standing,
    access::{Group, Instance, Project, Scope},
};
use org::access::{IdOrPath, locate_group, locate_project};

pub trait Locate: Scope + Send {
    /// `id` is the path's `{id}`, decoded; empty where the path has none.
    fn locate(tx: &mut Tx<'_>, actor: Actor, id: &str) -> Result<(Self, Standing)>;

    /// The scope where nothing has to be looked up for it.
    fn without_rows(_: Actor) -> Option<(Self, Standing)> {
        None
    }
}

impl Locate for Instance {
    fn locate(_: &mut Tx<'_>, actor: Actor, _: &str) -> Result<(Self, Standing)> {
        Ok((Instance, Standing::in_instance(actor)))
    }

    fn without_rows(actor: Actor) -> Option<(Self, Standing)> {
        Some((Self, Standing::in_instance(actor)))
    }
}

impl Locate for Project {
    fn locate(tx: &mut Tx<'_>, actor: Actor, id: &str) -> Result<(Self, Standing)> {
        locate_project(tx, actor, &IdOrPath::parse(id))
    }
}

impl Locate for Group {
    fn locate(tx: &mut Tx<'_>, actor: Actor, id: &str) -> Result<(Self, Standing)> {
        locate_group(tx, actor, &IdOrPath::parse(id))
    }
}
