//! Host names with `*` for one whole label, as definitions write them.

/// Whether `name` is one of the hosts that `glob` stands for. Case does not matter.
pub(crate) fn matches_labels(glob: &str, name: &str) -> bool {
    let (mut globs, mut labels) = (glob.split('.'), name.split('.'));
    loop {
        match (globs.next(), labels.next()) {
            (None, None) => return true,
            (Some(glob), Some(label)) if !label.is_empty() => {
                if glob != "*" && !glob.eq_ignore_ascii_case(label) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
