load helper

setup() { setup_lore; }

@test "init makes a store in the project's folder and says where" {
  run_lore init
  expect 0
  contains "$output" '"state":"added"'
  [ -f .lore/search.db ]
}

@test "an unknown command names the nearest one" {
  run_lore serach jwt
  expect_error 2 "unknown command 'serach' (did you mean 'search'?): see 'lore help'"
}
