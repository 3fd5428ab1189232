//! Following people, and the lists and numbers of it.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{user_follows, users},
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::UserId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use crate::user::{State, User, store::UserStore};

/// How many people one may follow.
const MOST: i64 = 300;
const TOO_MANY: &str =
    "You can't follow more than 300 users. To follow more users, unfollow some others.";

/// The number of followers and of followed users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowCounts {
    pub followers: i64,
    pub following: i64,
}

/// Follows somebody.
///
/// # Errors
/// `Unchanged` for whom one follows already, and for oneself.
pub fn follow(tx: &mut Tx<'_>, follower: UserId, followee: UserId) -> Result<User> {
    let user = tx.user(followee)?;
    if follower == followee || follows(tx, follower, followee)? {
        return Err(Error::unchanged());
    }
    let theirs = user_follows::table.filter(user_follows::follower_id.eq(follower));
    let count = theirs.count();
    let many: i64 = each_backend!(tx, |conn| count.get_result(conn).map_err(error("User")))?;
    if many >= MOST {
        return Err(Error::bad_request().whole(TOO_MANY));
    }
    let row = (
        user_follows::follower_id.eq(follower),
        user_follows::followee_id.eq(followee),
        user_follows::created_at.eq(tx.now),
    );
    let insert = diesel::insert_into(user_follows::table).values(row);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("User")))?;
    Ok(user)
}

/// # Errors
/// `Unchanged` for whom one does not follow.
pub fn unfollow(tx: &mut Tx<'_>, follower: UserId, followee: UserId) -> Result<User> {
    let user = tx.user(followee)?;
    let row = diesel::delete(user_follows::table.find((follower, followee)));
    match each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))? {
        0 => Err(Error::unchanged()),
        _ => Ok(user),
    }
}

pub fn follows(tx: &mut Tx<'_>, follower: UserId, followee: UserId) -> Result<bool> {
    let row = user_follows::table.find((follower, followee)).select(user_follows::followee_id);
    let found: Option<UserId> =
        each_backend!(tx, |conn| row.get_result(conn).optional().map_err(error("User")))?;
    Ok(found.is_some())
}

/// Those who follow somebody and can still be met, by their ids.
pub fn followers(tx: &mut Tx<'_>, user: UserId, page: PageRequest) -> Result<Page<User>> {
    let found = user_follows::table
        .inner_join(users::table.on(users::id.eq(user_follows::follower_id)))
        .filter(user_follows::followee_id.eq(user))
        .filter(users::state.eq(State::Active));
    let items: Vec<User> = each_backend!(tx, |conn| found
        .order(users::id.desc())
        .limit(page.per_page)
        .offset(page.offset())
        .select(User::as_select())
        .load(conn)
        .map_err(error("User")))?;
    let count = CountOf(found.select(users::id).limit(COUNT_LIMIT + 1));
    let total = each_backend!(tx, |conn| count.get_result(conn).map_err(error("User")))?;
    Ok(Page { items, total: Total::Counted(total) })
}

/// Those whom somebody follows and who can still be met.
pub fn following(tx: &mut Tx<'_>, user: UserId, page: PageRequest) -> Result<Page<User>> {
    let found = user_follows::table
        .inner_join(users::table.on(users::id.eq(user_follows::followee_id)))
        .filter(user_follows::follower_id.eq(user))
        .filter(users::state.eq(State::Active));
    let items: Vec<User> = each_backend!(tx, |conn| found
        .order(users::id.desc())
        .limit(page.per_page)
        .offset(page.offset())
        .select(User::as_select())
        .load(conn)
        .map_err(error("User")))?;
    let count = CountOf(found.select(users::id).limit(COUNT_LIMIT + 1));
    let total = each_backend!(tx, |conn| count.get_result(conn).map_err(error("User")))?;
    Ok(Page { items, total: Total::Counted(total) })
}

/// The numbers of a whole page of people at once.
pub fn counts(tx: &mut Tx<'_>, of: &[UserId]) -> Result<HashMap<UserId, FollowCounts>> {
    let mut found: HashMap<UserId, FollowCounts> = HashMap::new();
    let followers = user_follows::table
        .inner_join(users::table.on(users::id.eq(user_follows::follower_id)))
        .filter(user_follows::followee_id.one_of(of))
        .filter(users::state.eq(State::Active))
        .group_by(user_follows::followee_id)
        .select((user_follows::followee_id, diesel::dsl::count_star()));
    let followers: Vec<(UserId, i64)> =
        each_backend!(tx, |conn| followers.load(conn).map_err(error("User")))?;
    let following = user_follows::table
        .inner_join(users::table.on(users::id.eq(user_follows::followee_id)))
        .filter(user_follows::follower_id.one_of(of))
        .filter(users::state.eq(State::Active))
        .group_by(user_follows::follower_id)
        .select((user_follows::follower_id, diesel::dsl::count_star()));
    let following: Vec<(UserId, i64)> =
        each_backend!(tx, |conn| following.load(conn).map_err(error("User")))?;
    followers.into_iter().for_each(|(id, many)| found.entry(id).or_default().followers = many);
    following.into_iter().for_each(|(id, many)| found.entry(id).or_default().following = many);
    Ok(found)
}
