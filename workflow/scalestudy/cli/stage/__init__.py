"""What the workflow's rules call, a function a stage; any stage can be run by hand."""
