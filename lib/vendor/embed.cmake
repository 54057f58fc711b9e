# cmake -DFILE=a.rules -DOUTPUT=out.cpp -P embed.cmake
file(READ ${FILE} rules)
get_filename_component(name ${FILE} NAME)
file(WRITE ${OUTPUT} "#include \"vendor_rules.h\"

namespace mrvlc::vendor {

const std::string_view kRulesName = \"${name}\";
const std::string_view kRulesText = R\"RULES(${rules})RULES\";

}  // namespace mrvlc::vendor
")
