//! The JSON Schema of a file: the part of JSON Schema that schemars writes for [`super::raw`], as far as the layers
//! need it.

use serde_json::{Map, Value};

use super::raw::Raw;

/// A schema, with the root that its `$ref`s are looked up in.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    node: &'a Value,
}

/// The schema of a configuration file (JSON Schema 2020-12).
#[must_use]
pub fn json_schema() -> Value {
    schemars::schema_for!(Raw).to_value()
}

impl<'a> Schema<'a> {
    /// The whole.
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, node: root }
    }

    /// The schema of a value in this table, if there may be one of that name.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        let this = self.alternatives().find(|schema| schema.has_type("object"))?;
        let named = this.node.pointer("/properties").and_then(|all| all.get(name));
        let any = this.node.get("additionalProperties").filter(|any| **any != Value::Bool(false));
        Some(this.at(named.or(any)?))
    }

    /// Whether a string may stand here.
    pub(super) fn takes_string(self) -> bool {
        self.alternatives().any(|schema| schema.has_type("string"))
    }

    /// Whether a table may stand here.
    pub(super) fn is_table(self) -> bool {
        self.alternatives().any(|schema| schema.has_type("object"))
    }

    /// Whether what stands here is a secret, or refers to one.
    pub(super) fn is_secret(self) -> bool {
        self.node.get("writeOnly").is_some()
            || self.alternatives().any(|schema| schema.node.get("writeOnly").is_some())
    }

    /// The schema of the elements, where this may be an array.
    pub(super) fn items(self) -> Option<Self> {
        let this = self.alternatives().find(|schema| schema.has_type("array"))?;
        Some(this.at(this.node.get("items")?))
    }

    /// The tables' keys that this may hold.
    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        let properties = self.deref().node.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// What it is for, in one line.
    pub(super) fn description(self) -> Option<String> {
        let text = self.node.get("description").or_else(|| self.deref().node.get("description"))?;
        Some(text.as_str()?.replace('\n', " "))
    }

    /// Keys that must be in a table.
    pub(super) fn required(self) -> impl Iterator<Item = &'a str> {
        self.node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The kinds of value that may stand here: one, or those of a possibly nested `anyOf`.
    pub(super) fn alternatives(self) -> impl Iterator<Item = Self> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found.into_iter()
    }

    fn collect(self, found: &mut Vec<Self>) {
        let this = self.deref();
        match this.node.get("anyOf").and_then(Value::as_array) {
            Some(any) => any.iter().for_each(|node| this.at(node).collect(found)),
            None => found.push(this),
        }
    }

    /// Whether a value of this JSON type may stand here.
    pub(super) fn has_type(self, name: &str) -> bool {
        match self.node.get("type") {
            Some(Value::String(one)) => one == name,
            Some(Value::Array(several)) => several.iter().any(|one| one == name),
            // An enumeration of documented words has no `type` of its own; anything goes has none at all.
            _ if self.words().next().is_some() => name == "string",
            _ => true,
        }
    }

    /// The words that may stand here, if it is one of several.
    pub(super) fn words(self) -> impl Iterator<Item = &'a str> {
        let list = |name: &str| self.node.get(name).and_then(Value::as_array).into_iter().flatten();
        let documented = list("oneOf").filter_map(|word| word.get("const"));
        list("enum").chain(documented).filter_map(Value::as_str)
    }

    /// A bound or another property of the schema.
    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        self.deref().node.get(name)
    }

    fn deref(self) -> Self {
        let target =
            self.node.get("$ref").and_then(Value::as_str).and_then(|path| self.root.pointer(&path[1..]));
        target.map_or(self, |node| self.at(node))
    }

    fn at(self, node: &'a Value) -> Self {
        Self { root: self.root, node }
    }
}
