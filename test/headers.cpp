// Owns the precompiled headers that the tests share.
int main() {
  return 0;
}
