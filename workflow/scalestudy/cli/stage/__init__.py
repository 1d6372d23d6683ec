"""The stages that the workflow's rules call, one function each. Any stage can be run by hand."""
