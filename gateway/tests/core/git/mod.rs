//! Real git clients against a server that listens.

mod addresses;
mod clone;
mod collaboration;
mod door;
mod forge;
mod jobs;
mod lfs;
mod lfs_locks;
mod limits;
mod merge_requests;
mod push;
mod push_options;
mod push_rules;
mod refusals;
mod wikis;

use crate::support::git::{Client, GitOutput};
use forge::Forge;

/// Bytes that no packing makes smaller, the same in every run.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(count).collect()
}
