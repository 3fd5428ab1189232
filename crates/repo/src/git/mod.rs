//! Git itself: reads in process with gix, everything else through the git command line.
